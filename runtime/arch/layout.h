// What stab-layout alone knows of the processor, beside arch.h: the lab's other half has no need of it.
#pragma once

#include "runtime/arch/x86_64/constant_reads.h"
#include "runtime/arch/x86_64/operand_numbers.h"
#include "runtime/arch/x86_64/stubs.h"
#include "runtime/arch/x86_64/thread_offsets.h"

namespace stab::arch {
using x86_64::for_each_constant_read;
using x86_64::for_each_number;
using x86_64::for_each_thread_offset;
using x86_64::slot_of_stub;
}
