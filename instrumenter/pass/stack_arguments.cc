// The problem: where an argument lies is decided by code generation, long after our pass. The approach: the convention of
// C on x86-64 hands out six general and eight vector registers in order, and whatever finds none left goes to the stack. So
// the registers that all arguments would like are counted, as if each were as large as its type. Conventions with other
// registers are not followed: there each argument may lie on the stack.
#include "instrumenter/pass/stack_arguments.h"

#include <llvm/IR/CallingConv.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>

namespace stab {
namespace {

constexpr uint64_t kGeneralRegisters = 6;
constexpr uint64_t kVectorRegisters = 8;
constexpr uint64_t kStackAlignment = 16;

bool hands_out_as_c(llvm::CallingConv::ID convention) {
  switch (convention) {
    case llvm::CallingConv::C:
    case llvm::CallingConv::Fast:
    case llvm::CallingConv::Cold:
    case llvm::CallingConv::PreserveMost:
    case llvm::CallingConv::PreserveAll:
    case llvm::CallingConv::Tail:
    case llvm::CallingConv::Swift:
    case llvm::CallingConv::SwiftTail:
    case llvm::CallingConv::X86_64_SysV:
      return true;
    default:
      return false;
  }
}

// The registers that arguments take, were there enough.
struct Wanted {
  uint64_t general = 0;
  uint64_t vector = 0;
  bool wide = false;   // a vector of more than 16 bytes
  bool other = false;  // on the stack in any case, or of a type that isn't known here
};

// Elements and their number are rounded up as code generation may do it. One of a single bit may become a byte or more.
uint64_t bytes_of(const llvm::FixedVectorType& vector, const llvm::DataLayout& layout) {
  const uint64_t bits = layout.getTypeSizeInBits(vector.getElementType());
  return llvm::PowerOf2Ceil(std::max<uint64_t>(bits, 8)) / 8 * llvm::PowerOf2Ceil(vector.getNumElements());
}

void add_vector(Wanted& wanted, const llvm::FixedVectorType& vector, const llvm::DataLayout& layout, unsigned vector_bytes) {
  const uint64_t bytes = bytes_of(vector, layout);
  wanted.vector += llvm::divideCeil(bytes, std::max(16U, vector_bytes));
  wanted.wide |= bytes > kStackAlignment;
  // Where code generation takes a vector apart, its integers go where integers go.
  if (vector.getElementType()->isIntOrPtrTy()) wanted.general += vector.getNumElements() == 1 ? llvm::divideCeil(bytes, 8) : 0;
  wanted.other |= layout.getTypeSizeInBits(vector.getElementType()) > 64;
}

void add(Wanted& wanted, llvm::Type& type, const llvm::DataLayout& layout, unsigned vector_bytes) {
  if (type.isIntOrPtrTy()) {
    wanted.general += llvm::divideCeil(layout.getTypeSizeInBits(&type), 64);
  } else if (type.isHalfTy() || type.isBFloatTy() || type.isFloatTy() || type.isDoubleTy() || type.isFP128Ty()) {
    wanted.vector += 1;
    wanted.other |= vector_bytes == 0;
  } else if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type)) {
    add_vector(wanted, *vector, layout, vector_bytes);
    wanted.other |= vector_bytes == 0;
  } else if (auto* structure = llvm::dyn_cast<llvm::StructType>(&type)) {
    for (llvm::Type* element : structure->elements()) add(wanted, *element, layout, vector_bytes);
  } else if (auto* array = llvm::dyn_cast<llvm::ArrayType>(&type)) {
    Wanted one;
    add(one, *array->getElementType(), layout, vector_bytes);
    wanted.general += one.general * array->getNumElements();
    wanted.vector += one.vector * array->getNumElements();
    wanted.wide |= one.wide;
    wanted.other |= one.other;
  } else {
    wanted.other = true;  // long double, among others
  }
}

// A copy of what the argument points to is passed.
StackArguments copied(const llvm::CallBase& call, unsigned argument, const llvm::DataLayout& layout) {
  llvm::MaybeAlign align = call.getParamStackAlign(argument);
  if (!align) align = call.getParamAlign(argument);
  if (!align) align = layout.getABITypeAlign(call.getParamByValType(argument));
  return {.any = true, .overaligned = align->value() > kStackAlignment};
}

}  // namespace

StackArguments stack_arguments(const llvm::CallBase& call, unsigned vector_bytes) {
  const llvm::DataLayout& layout = call.getModule()->getDataLayout();
  StackArguments found;
  Wanted wanted;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (call.isByValArgument(i)) {
      const StackArguments copy = copied(call, i, layout);
      found.any |= copy.any;
      found.overaligned |= copy.overaligned;
    } else {
      add(wanted, *call.getArgOperand(i)->getType(), layout, vector_bytes);
    }
  }
  const bool enough = hands_out_as_c(call.getCallingConv()) && !wanted.other && wanted.general <= kGeneralRegisters &&
                      wanted.vector <= kVectorRegisters;
  found.any |= !enough;
  // Calls with a variable number of arguments pass no wide vector in a register.
  found.overaligned |= wanted.wide && (!enough || call.getFunctionType()->isVarArg());
  found.any |= found.overaligned;
  return found;
}

}  // namespace stab
