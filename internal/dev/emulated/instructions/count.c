// A plugin of QEMU 7 and later that counts the instructions that an emulated program executes, and
// prints their number when it ends, in all and by function:
//
//	gcc -shared -fPIC -O2 -o bin/count.so internal/dev/emulated/instructions/count.c
//	GOMAXPROCS=1 qemu-aarch64 -plugin bin/count.so PROGRAM 2>&1 | sort -rn | head
//
// The declarations are those of qemu-plugin.h, API version 1, which Debian's qemu-user lacks.
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
extern void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern const char *qemu_plugin_insn_symbol(const struct qemu_plugin_insn *);

int qemu_plugin_version = 1;

// Functions are in a list, which only grows.
struct function {
	struct function *next;
	uint64_t instructions;
	char name[];
};

// A block is part of one function: code that is executed as a whole.
struct block {
	struct function *function;
	size_t instructions;
};

static struct function *functions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void executed(unsigned cpu, void *data) {
	(void)cpu;
	struct block *b = data;
	__atomic_fetch_add(&b->function->instructions, b->instructions, __ATOMIC_RELAXED);
}

static struct function *find(const char *name) {
	pthread_mutex_lock(&lock);
	struct function *f = functions;
	while (f && strcmp(f->name, name))
		f = f->next;
	if (!f) {
		f = calloc(1, sizeof *f + strlen(name) + 1);
		if (!f)
			abort();
		strcpy(f->name, name);
		f->next = functions;
		functions = f;
	}
	pthread_mutex_unlock(&lock);
	return f;
}

static void translated(plugin_id id, struct qemu_plugin_tb *code) {
	(void)id;
	const char *name = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(code, 0));
	struct block *b = malloc(sizeof *b); // for as long as the program runs
	if (!b)
		abort();
	b->function = find(name ? name : "without a name");
	b->instructions = qemu_plugin_tb_n_insns(code);
	qemu_plugin_register_vcpu_tb_exec_cb(code, executed, 0, b);
}

static void ended(plugin_id id, void *unused) {
	(void)id, (void)unused;
	uint64_t all = 0;
	for (struct function *f = functions; f; f = f->next) {
		all += f->instructions;
		fprintf(stderr, "%" PRIu64 " %s\n", f->instructions, f->name);
	}
	fprintf(stderr, "%" PRIu64 " in all\n", all);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
	(void)info, (void)argc, (void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
