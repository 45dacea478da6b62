// The control block's storage and the words of its degradations; control.h says what it is for.
#include "runtime/control.h"

namespace stab {

alignas(arch::kPage) ControlPages stab_control_pages;

const char* const kDegradationWords[static_cast<size_t>(Degradation::kCount)] = {
    "no code metadata of this version in the executable; build it with szc or run stab-postlink on it",
    ("the text differs from what its code metadata describes; link the program again after editing it, start it without a "
     "debugger's breakpoints, and take code = 'off' for what llvm-bolt has rewritten"),
    "the code metadata is malformed; run stab-postlink again",
    "no helper process could be started; raise the limit on processes or allow clone",
    ("no shared memory from memfd_create; allow it in the sandbox, mount /proc, and raise the limits on open files and their "
     "size (ulimit -n, ulimit -f)"),
    "the images could not be mapped; raise the limit on address space (ulimit -v) or allow shared executable memory",
    "no room for images within 2 GiB of the text",
    "the text has load-time relocations; build with -fPIE or -no-pie",
    "no image could be reused for a time; some layouts lasted longer than an epoch",
    ("a thread could not be read, time after time, so no image was reused (its stack is not in its memory, or the helper is "
     "short of memory or descriptors)"),
    "a forked child could not be followed; moving stopped at the present layouts",
    "LLVM's libunwind can't be told of moved functions, so exceptions would end there; link with --unwindlib=libgcc",
    "the report file could not be opened",
    "no function has a pad; compile with szc, or with szc --stab-pads=all where all functions are short ones",
    "the helper was late by more than one epoch; lengthen the epoch or give it a CPU of its own",
    "the program switches stacks; images are never reused and moving stops when the ring is full",
    "the heap could not reserve its address space; raise the limit on address space (ulimit -v)",
    ("stack pads of a shared library could not be drawn; the kernel must let a process write its own read-only memory "
     "through /proc/self/mem, and at most 128 libraries may have pads"),
    "running threads can't be sampled, so images wait for threads to block; lower kernel.perf_event_paranoid to 2",
    "the map for perf could not be written; make room in /tmp and remove the perf-PID.map that another user left there",
    ("a shared library reads a stab_stack of its own, so it has no pads; link it again with this version of Stab, or name "
     "stab_stack under 'global:' in its version script"),
    ("libraries don't find the runtime's names, so code and heap stay; name _Unwind_Find_FDE, malloc and the like, stab_stack "
     "and stab_rt_* under 'global:' in the executable's version script, or preload libstabhost.so before libraries that define "
     "them"),
    ("the executable holds an unwinder that can't be told of moved functions, so exceptions would end there; link without "
     "-static-libgcc"),
    "a library of the program brings a malloc, which serves all calls; link without it, or don't preload it",
    ("libc's table of symbols could not be changed, so a library was loaded without RTLD_DEEPBIND, which would have made it free "
     "with libc what our heap gave; let a seccomp filter pass mprotect; with STAB_HEAP=off it is loaded as asked"),
    ("/proc shows other process ids than the program has, so its threads can't be found, images are never reused, and moving "
     "stops when the ring is full; mount /proc in its PID namespace"),
    ("permission to look at a thread was denied (EACCES or EPERM), so images wait and moving may stop; keep the program "
     "dumpable (PR_SET_DUMPABLE, setuid) and let its seccomp filter pass reads of /proc"),
    "stacks could not be read to their ends within 1 s of the helper's own time; images that may be in use there are not reused",
    "the program has more than 4096 threads, so no image is reused and moving stops when the ring is full",
    ("there was no memory for the board of progress points, so visits are not counted; raise the limits on address space and "
     "files (ulimit -v, ulimit -f)"),
    "more than 62 progress points, or names longer than 111 bytes: the visits of those are counted as visits_dropped alone",
    ("more than 1024 threads, or processes that ended without exit, had progress points at a time: the visits of further ones "
     "are counted in shared cells, which costs them more"),
    ("the program runs under valgrind, which lets no program start its helper, so nothing moved; run it by a plan with "
     "simulate = 'cachegrind' below [counters], whose helper is started outside of valgrind"),
    ("functions could not be sampled; lower kernel.perf_event_paranoid to 2, allow perf_event_open, and mount /proc in the "
     "program's PID namespace"),
    ("a language runtime in the program walks code addresses (Go, OCaml, V8 and the like; szc --stab-info names it), so the "
     "functions that came with it stay"),
    "long loops are to be led to new layouts, and the executable's metadata tells nothing of loops; link it again with szc",
    ("the program mapped other memory over its own text or made it writable, so it went on there and layouts ended; leave that "
     "out, as an option for huge pages may"),
    ("a library brings an unwinder that can't be told of moved functions (libunwind, or one linked into it), so exceptions and "
     "stack walks would end there; link with libgcc_s ahead of libunwind, or without it"),
    ("a library was loaded that brings an unwinder which can't be told of moved functions (libunwind, one linked into it, or one "
     "that RTLD_DEEPBIND or dlmopen keeps apart), so layouts ended and calls run the original code; exceptions can't leave "
     "functions that were running then; load it with libgcc_s, or use STAB_CODE=off"),
    "the program brings a malloc of its own, which serves all calls; link without it",
    ("clock_gettime was refused to the helper, so epochs don't end and the first layout stays; let the seccomp filter that the "
     "program was started under pass it"),
    ("the code's layouts are not matched with those of the other builds, of which no table of places could be made; the "
     "experiment's log says why"),
    ("the code's layouts are not matched with those of the other builds: the match table lacks a function of this program, or "
     "images by it would be too large; build the programs again and submit the plan anew"),
    ("stack pads are not matched with those of the other builds: the executable says no identities of its functions; link it "
     "again with szc"),
    "the program's CPU time can't be read, so epochs end by the time of day; mount /proc in the program's PID namespace",
    ("the helper could not read a shared library's file, or its code was changed after it was linked, so that code stays; keep "
     "the program dumpable and /proc mounted, and run stab-postlink again on a library that was edited"),
    ("there was no memory for a shared library's images, so its code stays; raise the limits on address space and files' size "
     "(ulimit -v, ulimit -f), and let a seccomp filter pass mremap"),
    ("more than 48 shared libraries would have moved at a time, with those that forked children may still run in; the code of "
     "the others stays; load fewer at a time, or end those children"),
    ("pointers to functions lead to the originals: the executable doesn't say where they are, or its data can't be written "
     "through /proc; link it again with szc, or use STAB_CODE=once"),
    ("the executable's file could not be opened, so its code stays; mount /proc, let the program's user read the file, and don't "
     "replace it while ld.so starts it by name"),
    ("the program makes code while it runs, and its memory could not be searched for stacks that rest, so no image was reused "
     "meanwhile (it takes more than 1 s of the helper's own time, or the kernel has no /proc/PID/pagemap); use longer epochs or "
     "STAB_CODE=once"),
    ("libraries don't find the runtime's names, as the loader prefers others to weak ones, so code and heap stay; start the "
     "program without LD_DYNAMIC_WEAK"),
    ("there was no room for a shared library's images within 2 GiB of it, from where its code reaches them, so its code stays; "
     "load fewer large libraries at a time"),
    ("the program reads its text as data, as to sum it up, so layouts of code and stack ended; leave that out, or keep what it "
     "reads and the marks around that in one file"),
};

}  // namespace stab
