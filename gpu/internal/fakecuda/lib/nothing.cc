// A driver so old that it has nothing that is needed, and a library of which only its being there
// matters.
extern "C" int cuInit(unsigned) { return 0; }
