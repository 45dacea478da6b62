// The problem: a pad is an alloca to code generation, and a function with one is compiled otherwise, also where the pad is 0:
//
//   its frame pointer is rbp, and rbx is its base pointer if the frame is aligned beyond 16 bytes, which a spilled vector does,
//     so nothing else may use the two registers;
//   what a call passes on the stack has no place of its own in the frame. The stack pointer is moved for it, by a multiple of 16
//     whatever the arguments' alignment, and is not moved back where the call throws;
//   the stack pointer is a multiple of 16 only, and isn't at the distance from the frame that may be written down somewhere.
//
// The approach: each of these has its rule below, which says what a function does that may not go together with it. Such
// functions are few; they are left as they are, and the pads of their callers move them all the same.
#include "instrumenter/pass/own_frame.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "instrumenter/pass/inline_assembly.h"
#include "instrumenter/pass/stack_arguments.h"
#include "instrumenter/pass/stack_copies.h"

namespace stab {
namespace {

// By its convention a function gives rbp and rbx back as it found them; code generation compiles no other one in which it needs
// both. A list of those that do: of the rest some have no frame, or one that isn't the compiler's, and new ones tend to keep
// nothing.
bool keeps_frame_registers(llvm::CallingConv::ID convention) {
  switch (convention) {
    case llvm::CallingConv::C:
    case llvm::CallingConv::Fast:
    case llvm::CallingConv::Cold:
    case llvm::CallingConv::PreserveMost:
    case llvm::CallingConv::PreserveAll:
    case llvm::CallingConv::Tail:
    case llvm::CallingConv::Swift:
    case llvm::CallingConv::SwiftTail:
    case llvm::CallingConv::Win64:
    case llvm::CallingConv::X86_64_SysV:
    case llvm::CallingConv::X86_RegCall:
    case llvm::CallingConv::X86_VectorCall:
    case llvm::CallingConv::Intel_OCL_BI:
      return true;
    default:
      return false;
  }
}

// Arguments in a block that has to stay at the stack's end.
bool has_argument_block(const llvm::CallBase& call) {
  return call.hasInAllocaArgument() || call.getOperandBundle(llvm::LLVMContext::OB_preallocated);
}

// Intrinsics that write to a register of the frame, or write down how the frame looks.
bool is_about_frame(const llvm::IntrinsicInst& intrinsic) {
  switch (intrinsic.getIntrinsicID()) {
    case llvm::Intrinsic::write_register:
    case llvm::Intrinsic::localescape:
    case llvm::Intrinsic::call_preallocated_setup:
    case llvm::Intrinsic::experimental_stackmap:
    case llvm::Intrinsic::experimental_patchpoint:
    case llvm::Intrinsic::experimental_patchpoint_void:
    case llvm::Intrinsic::experimental_gc_statepoint:
      return true;
    default:
      return false;
  }
}

// A call that can be made over and over in one activation by throwing each time.
bool throws_in_circles(const llvm::InvokeInst& invoke) {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> seen;
  llvm::SmallVector<const llvm::BasicBlock*, 16> open = {invoke.getUnwindDest()};
  while (!open.empty()) {
    const llvm::BasicBlock* block = open.pop_back_val();
    if (block == invoke.getParent()) return true;
    if (seen.insert(block).second) open.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return false;
}

bool allows_pad(const llvm::CallBase& call, unsigned vector_bytes) {
  if (assembly_of(call) != nullptr) return spares_frame_registers(call);
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) return !is_about_frame(*intrinsic);
  if (has_argument_block(call)) return false;
  if (!keeps_frame_registers(call.getCallingConv()) || call.hasFnAttr("no_callee_saved_registers")) return false;
  const StackArguments on_stack = stack_arguments(call, vector_bytes);
  if (on_stack.overaligned) return false;
  const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&call);
  return !on_stack.any || invoke == nullptr || !throws_in_circles(*invoke);
}

}  // namespace

bool needs_own_frame(const llvm::Function& function, unsigned vector_bytes) {
  if (!keeps_frame_registers(function.getCallingConv())) return true;
  if (measures_stack(function)) return true;  // what lies below the place that it measures from would be more
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call != nullptr && !allows_pad(*call, vector_bytes))
      return true;
  return false;
}

}  // namespace stab
