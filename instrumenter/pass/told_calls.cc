// The problem: a program may make its own text writable, or let the kernel write there for a tracer or a file, which can't be
// where that text is shared memory. It may read its text as data, which each epoch changes. And it may lower its limit of address
// space, of which the heap has reserved more than most limits allow.
//
// The approach: the runtime is told before mprotect makes something writable, before the process lets another one trace it,
// after it has opened its memory as a file to write to, and before functions begin that read the text (code_as_data.cc); all
// these are in runtime/code/written_text.cc. It is told after setrlimit or prlimit has changed that limit
// (runtime/heap/lowered_limit.cc). What a pointer leads to may be read after the kernel has read it alone: the kernel has an
// error for what can't be. Calls by a pointer or by a number (syscall) are not seen.
#include "instrumenter/pass/told_calls.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include <cstdint>
#include <optional>

#include "instrumenter/pass/code_as_data.h"
#include "instrumenter/pass/resolvers.h"
#include "instrumenter/pass/runtime_calls.h"

namespace stab {
namespace {

// The runtime's: void (void* start, size_t bytes, int protection), void (const char* path, int flags, int done), void (int
// request), and void () of the others.
constexpr llvm::StringRef kProtectSymbol = "stab_rt_before_protect";
constexpr llvm::StringRef kOpenedSymbol = "stab_rt_opened";
constexpr llvm::StringRef kTraceSymbol = "stab_rt_before_trace";
constexpr llvm::StringRef kReadSymbol = "stab_rt_before_text_is_read";
constexpr llvm::StringRef kLimitSymbol = "stab_rt_limit_changed";

std::optional<uint64_t> known_number(const llvm::Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  return number == nullptr ? std::optional<uint64_t>() : number->getZExtValue();
}

llvm::StringRef called_in_libc(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr && callee->isDeclaration() && !call.isMustTailCall() ? callee->getName() : llvm::StringRef();
}

bool may_make_writable(const llvm::CallBase& call) {
  const llvm::StringRef name = called_in_libc(call);
  if ((name != "mprotect" && name != "pkey_mprotect") || call.arg_size() < 3) return false;
  if (!call.getArgOperand(0)->getType()->isPointerTy() || !call.getArgOperand(1)->getType()->isIntegerTy(64) ||
      !call.getArgOperand(2)->getType()->isIntegerTy(32))
    return false;
  const auto protection = known_number(call.getArgOperand(2));
  return !protection || (*protection & PROT_WRITE) != 0;
}

// Of what is returned from in one place. The limit's number is the first argument, and behind a process that of prlimit.
bool may_limit_addresses(const llvm::CallBase& call) {
  const llvm::StringRef name = called_in_libc(call);
  const bool is_set = name == "setrlimit" || name == "setrlimit64", is_other = name == "prlimit" || name == "prlimit64";
  const unsigned argument = is_other ? 1 : 0;
  if (!(is_set || is_other) || call.arg_size() <= argument || !llvm::isa<llvm::CallInst>(call)) return false;
  const auto limit = known_number(call.getArgOperand(argument));
  return !limit || *limit == RLIMIT_AS;
}

bool starts_programs(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call != nullptr && (called_in_libc(*call).starts_with("exec") || called_in_libc(*call) == "fexecve");
  });
}

// A process that asks to be traced and then becomes another program is no concern of this one's.
bool may_be_traced(const llvm::CallBase& call) {
  if (called_in_libc(call) != "ptrace" || call.arg_empty() || !call.getArgOperand(0)->getType()->isIntegerTy(32)) return false;
  const auto request = known_number(call.getArgOperand(0));
  return (!request || *request == PTRACE_TRACEME) && !starts_programs(*call.getFunction());
}

// Its name may be put together, of a number of a process.
bool names_memory_as_file(const llvm::Module& module) {
  return llvm::any_of(module.globals(), [](const llvm::GlobalVariable& variable) {
    if (!variable.hasInitializer()) return false;
    const auto* bytes = llvm::dyn_cast<llvm::ConstantDataArray>(variable.getInitializer());
    if (bytes == nullptr || !bytes->isString()) return false;
    return bytes->getAsString().contains("/proc/") && bytes->getAsString().contains("/mem");
  });
}

struct Opened {
  llvm::Value* path;
  llvm::Value* flags;
};

// Empty: that opens nothing, or nothing to write to. The second names of open are those of _FORTIFY_SOURCE.
std::optional<Opened> may_be_opened(const llvm::CallBase& call) {
  const llvm::StringRef name = called_in_libc(call);
  const bool at = llvm::is_contained({"openat", "openat64", "__openat_2", "__openat64_2"}, name);
  const bool stream = llvm::is_contained({"fopen", "fopen64", "freopen", "freopen64"}, name);
  const bool plain = llvm::is_contained({"open", "open64", "__open_2", "__open64_2"}, name);
  const unsigned path = at ? 1 : 0;
  if (!(at || stream || plain) || call.arg_size() < path + 2) return {};
  llvm::Value* const how = call.getArgOperand(path + 1);
  if (!call.getArgOperand(path)->getType()->isPointerTy()) return {};
  if (stream ? !call.getType()->isPointerTy() : !call.getType()->isIntegerTy(32)) return {};
  if (stream) {
    llvm::StringRef mode;
    if (llvm::getConstantStringInfo(how, mode) && mode.find_first_of("wa+") == llvm::StringRef::npos) return {};
    return Opened{call.getArgOperand(path), llvm::ConstantInt::get(llvm::Type::getInt32Ty(call.getContext()), O_RDWR)};
  }
  const auto flags = known_number(how);
  if (!how->getType()->isIntegerTy(32) || (flags && (*flags & O_ACCMODE) == O_RDONLY)) return {};
  return Opened{call.getArgOperand(path), how};
}

// What its file reads of it has no pad, and may be what it makes writable.
bool may_tell(const llvm::Function& function) {
  if (!function.hasFnAttribute(kCodeIsDataAttribute)) return may_call_runtime(function);
  return !function.isDeclaration() && !function.hasAvailableExternallyLinkage() &&
         !function.hasFnAttribute(llvm::Attribute::Naked) && function.getCallingConv() != llvm::CallingConv::X86_INTR;
}

void call_runtime(llvm::StringRef name, const llvm::Instruction& of, llvm::Instruction* place,
                  llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*, 3> types;
  for (const llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::Function* told =
      runtime_function(*place->getModule(), name, llvm::FunctionType::get(llvm::Type::getVoidTy(of.getContext()), types, false));
  if (told == nullptr) return;
  llvm::IRBuilder<> build(if_there(told, place));
  build.SetCurrentDebugLocation(of.getDebugLoc());
  build.CreateCall(told, arguments);
}

// What the call returns says whether that was done: no negative number, no null pointer.
void tell_what_is_opened(llvm::CallBase& call) {
  const std::optional<Opened> file = may_be_opened(call);
  llvm::Instruction* const next = behind(call);
  llvm::IRBuilder<> build(next);
  build.SetCurrentDebugLocation(call.getDebugLoc());
  llvm::Value* const done = call.getType()->isPointerTy() ? build.CreateIsNotNull(&call) : build.CreateIsNotNeg(&call);
  call_runtime(kOpenedSymbol, call, next, {file->path, file->flags, build.CreateZExt(done, build.getInt32Ty())});
}

}  // namespace

llvm::PreservedAnalyses ToldCalls::run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
  if (module.getCodeModel() == llvm::CodeModel::Kernel) return llvm::PreservedAnalyses::all();
  const auto early = reached_from_resolvers(module);
  const bool opens_memory = names_memory_as_file(module);
  llvm::SmallVector<llvm::CallBase*, 4> writable, limits, traced, opened;
  llvm::SmallVector<llvm::Function*, 4> readers;
  for (llvm::Function& function : module) {
    if (!may_tell(function) || early.contains(&function)) continue;
    if (function.hasFnAttribute(kReadsTextAttribute)) readers.push_back(&function);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      if (may_make_writable(*call)) writable.push_back(call);
      if (may_limit_addresses(*call)) limits.push_back(call);
      if (may_be_traced(*call)) traced.push_back(call);
      if (opens_memory && may_be_opened(*call)) opened.push_back(call);
    }
  }
  for (llvm::CallBase* call : writable)
    call_runtime(kProtectSymbol, *call, call, {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2)});
  for (llvm::CallBase* call : traced) call_runtime(kTraceSymbol, *call, call, {call->getArgOperand(0)});
  for (llvm::CallBase* call : opened) tell_what_is_opened(*call);
  for (llvm::CallBase* call : limits) call_runtime(kLimitSymbol, *call, behind(*call), {});
  for (llvm::Function* function : readers) {
    llvm::Instruction& begin = *function->getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    call_runtime(kReadSymbol, begin, &begin, {});
  }
  const bool any = !writable.empty() || !limits.empty() || !traced.empty() || !opened.empty() || !readers.empty();
  return any ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace stab
