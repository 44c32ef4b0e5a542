#include "fake.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>

// A stream does nothing until somebody waits: a copy that is looked at too early
// is garbage, every time.
struct Stream {
	std::deque<Work> waiting;
	uint64_t done = 0;
	uint64_t queued() const { return done + waiting.size(); }
};

// An event is reached when its stream has done so much. A timed one has its stream note the time.
struct Event {
	unsigned flags = 0;
	std::weak_ptr<Stream> stream;
	uint64_t target = 0;
	std::shared_ptr<std::chrono::steady_clock::time_point> time;
	bool reached() const {
		auto s = stream.lock();
		return !s || s->done >= target;
	}
};

static std::map<CUstream, std::shared_ptr<Stream>> living_streams;
static std::map<CUevent, Event> living_events;
static uintptr_t next_handle = 0x1000;

static CUresult step(Stream &s) {
	Work work = std::move(s.waiting.front());
	s.waiting.pop_front();
	s.done++;
	CUresult answer = work();
	return answer == CUDA_SUCCESS ? answer : lose(answer);
}

static CUresult drain(Stream &s, uint64_t target) {
	while (s.done < target && !s.waiting.empty())
		if (CUresult answer = step(s); answer != CUDA_SUCCESS)
			return answer;
	return CUDA_SUCCESS;
}

static std::condition_variable_any queued_more;

CUresult enqueue(CUstream stream, Work work) {
	auto found = living_streams.find(stream);
	if (found == living_streams.end())
		return CUDA_ERROR_INVALID_HANDLE;
	found->second->waiting.push_back(std::move(work));
	queued_more.notify_all();
	return CUDA_SUCCESS;
}

// meet keeps who waits for an event until FAKECUDA_MEET streams have work queued, which they must
// once within a minute.
static CUresult meet() {
	static bool met;
	long long want = setting("MEET", 0);
	if (want == 0)
		met = false;
	if (want == 0 || met)
		return CUDA_SUCCESS;
	bool in_time = queued_more.wait_for(everything, std::chrono::minutes(1), [=] {
		long long n = 0;
		for (auto &one : living_streams)
			n += !one.second->waiting.empty();
		return met = met || n >= want;
	});
	queued_more.notify_all();
	return in_time ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_TIMEOUT;
}

CUresult drain_all() {
	for (auto &one : living_streams)
		if (CUresult answer = drain(*one.second, one.second->queued()); answer != CUDA_SUCCESS)
			return answer;
	return CUDA_SUCCESS;
}

// How often somebody waited, and how often that kept a processor busy.
static int64_t waits_begun, spins;
int64_t waits() { return waits_begun; }
int64_t spinning_waits() { return spins; }

static void count_wait(bool sleeps) {
	waits_begun++;
	spins += !sleeps && !sleeping_context();
}

size_t streams() { return living_streams.size(); }
size_t events() { return living_events.size(); }

void forget_streams() {
	living_streams.clear();
	living_events.clear();
}

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
	ENTER_CONTEXT(cuStreamCreate);
	(void)flags;
	*stream = (CUstream)(next_handle += 16);
	living_streams[*stream] = std::make_shared<Stream>();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuStreamSynchronize(CUstream stream) {
	ENTER_CONTEXT(cuStreamSynchronize);
	count_wait(false);
	auto found = living_streams.find(stream);
	if (found == living_streams.end())
		return CUDA_ERROR_INVALID_HANDLE;
	return drain(*found->second, found->second->queued());
}

EXPORT CUresult cuStreamDestroy(CUstream stream) {
	ENTER_CONTEXT(cuStreamDestroy);
	auto found = living_streams.find(stream);
	if (found == living_streams.end())
		return CUDA_ERROR_INVALID_HANDLE;
	CUresult answer = drain(*found->second, found->second->queued());
	living_streams.erase(stream);
	return answer;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
	ENTER_CONTEXT(cuEventCreate);
	*event = (CUevent)(next_handle += 16);
	living_events[*event].flags = flags;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuEventDestroy(CUevent event) {
	ENTER_CONTEXT(cuEventDestroy);
	return living_events.erase(event) == 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
	ENTER_CONTEXT(cuEventRecord);
	auto e = living_events.find(event);
	auto s = living_streams.find(stream);
	if (e == living_events.end() || s == living_streams.end())
		return CUDA_ERROR_INVALID_HANDLE;
	e->second.time = nullptr;
	if ((e->second.flags & CU_EVENT_DISABLE_TIMING) == 0) {
		auto time = e->second.time = std::make_shared<std::chrono::steady_clock::time_point>();
		s->second->waiting.push_back([=] {
			*time = std::chrono::steady_clock::now();
			return CUDA_SUCCESS;
		});
	}
	e->second.stream = s->second;
	e->second.target = s->second->queued();
	return CUDA_SUCCESS;
}

EXPORT CUresult cuEventSynchronize(CUevent event) {
	ENTER_CONTEXT(cuEventSynchronize);
	if (CUresult answer = meet(); answer != CUDA_SUCCESS)
		return lose(answer);
	auto e = living_events.find(event);
	if (e == living_events.end())
		return CUDA_ERROR_INVALID_HANDLE;
	count_wait((e->second.flags & CU_EVENT_BLOCKING_SYNC) != 0);
	auto s = e->second.stream.lock();
	return s ? drain(*s, e->second.target) : CUDA_SUCCESS;
}

// Each question lets the stream do one thing more.
EXPORT CUresult cuEventQuery(CUevent event) {
	ENTER_CONTEXT(cuEventQuery);
	auto e = living_events.find(event);
	if (e == living_events.end())
		return CUDA_ERROR_INVALID_HANDLE;
	if (e->second.reached())
		return CUDA_SUCCESS;
	CUresult answer = step(*e->second.stream.lock());
	return answer == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : answer;
}

EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
	ENTER_CONTEXT(cuEventElapsedTime);
	auto a = living_events.find(from), b = living_events.find(to);
	if (a == living_events.end() || b == living_events.end() || !a->second.time || !b->second.time)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!a->second.reached() || !b->second.reached())
		return CUDA_ERROR_NOT_READY;
	*milliseconds = std::chrono::duration<float, std::milli>(*b->second.time - *a->second.time).count();
	return CUDA_SUCCESS;
}
