"""gdb's view of moved functions: backtraces are complete, and `bt` names each function and its source line.

    (gdb) source <prefix>/share/stab/stab-gdb.py

Images belong to no file, so gdb knows nothing of them. This finds the original function of an address in what each
image says of itself, unwinds its frame by the rules of the function's file, and shows it under its name. It reads the
program or its core file only, so a program needs no preparation and pays nothing.

A breakpoint in a moved function is never reached, and nobody, gdb included, can write into the pages of code that moves.
The script says so when you set one: stop at a function of a library that szc didn't make, or debug with STAB_CODE=off.
Where one was set before the program started, its code stays.
"""
import re
import struct

import gdb
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

# runtime/control.h and runtime/code/image.h.
CONTROL = struct.Struct("<8sQiiQIIQQQQQQ")
CONTROL_SYMBOL = b"_ZN4stab18stab_control_pagesE"
LIBRARIES_AT, LIBRARIES, LIBRARY = 4448, 48, struct.Struct("<IIQQQQQ")  # of Control; a unit test holds the offset
SLOTS = 64
HEADER, ENTRY = struct.Struct("<QII"), struct.Struct("<IIII")
MAGIC = 0x6567616D49424154
# By DWARF number.
REGISTERS = ("rax rdx rcx rbx rsi rdi rbp rsp " + " ".join(f"r{i}" for i in range(8, 16)) + " rip").split()
RSP, RIP = 7, 16
CALLEE_SAVED = (3, 6, 12, 13, 14, 15)  # functions that don't use them leave them as they are


class NotKnown(Exception):
    """A rule that compilers don't use for ordinary functions."""


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def sleb(data, at):
    start = at
    value, at = uleb(data, at)
    bits = 7 * (at - start)
    return value - (1 << bits) if data[at - 1] & 0x40 else value, at


class Row:
    """How to find the caller's registers at one place: CFA = register + offset; saved registers lie at CFA + offset."""

    def __init__(self, register=RSP, offset=8, saved=None):
        self.register, self.offset, self.saved = register, offset, saved or {RIP: -8}

    def copy(self):
        return Row(self.register, self.offset, dict(self.saved))

    def run(self, code, factor, target=None, initial=None):
        """Executes unwinding instructions up to `target`, an offset in the function."""
        at, place, stack = 0, 0, []
        while at < len(code):
            high, low = code[at] >> 6, code[at] & 63
            at += 1
            steps = {0x02: 1, 0x03: 2, 0x04: 4}
            if high == 1 or (high == 0 and low in steps):
                size = 0 if high == 1 else steps[low]
                place += low if high == 1 else int.from_bytes(code[at:at + size], "little")
                at += size
                if target is not None and place > target:
                    return
            elif high == 2:
                offset, at = uleb(code, at)
                self.saved[low] = offset * factor
            elif high == 3:
                self.restore(low, initial)
            elif low in (0x06, 0x07, 0x08):  # restore_extended, undefined, same_value
                register, at = uleb(code, at)
                self.restore(register, initial if low == 0x06 else None)
            elif low == 0x05:  # offset_extended
                register, at = uleb(code, at)
                offset, at = uleb(code, at)
                self.saved[register] = offset * factor
            elif low == 0x0A:
                stack.append(self.copy())
            elif low == 0x0B:
                self.__dict__.update(stack.pop().__dict__)
            elif low == 0x0C:
                self.register, at = uleb(code, at)
                self.offset, at = uleb(code, at)
            elif low == 0x0D:
                self.register, at = uleb(code, at)
            elif low == 0x0E:
                self.offset, at = uleb(code, at)
            elif low == 0x2E:  # GNU_args_size
                _, at = uleb(code, at)
            elif low != 0:
                raise NotKnown(f"unwinding instruction {low:#x}")

    def restore(self, register, initial):
        self.saved.pop(register, None)
        if initial and register in initial.saved:
            self.saved[register] = initial.saved[register]


class File:
    """A file's functions and unwinding rules, at link-time addresses."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        offset, = struct.unpack_from("<Q", self.bytes, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.bytes, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, offset + i * size) for i in range(count)]
        sections = {self.text(headers[names][4] + h[0]): h for h in headers}
        self.may_move = b"stab_code" in sections
        self.names, self.control, self.rules, self.text_start = {}, None, {}, 0
        segments, = struct.unpack_from("<Q", self.bytes, 0x20)
        for i in range(struct.unpack_from("<H", self.bytes, 0x38)[0]):
            kind, flags, _, address = struct.unpack_from("<IIQQ", self.bytes, segments + i * 56)
            if kind == 1 and flags & 1:
                self.text_start = address & ~4095
                break
        if b".symtab" in sections:
            self.read_symbols(sections[b".symtab"], headers)
        if b".eh_frame" in sections:
            self.read_rules(sections[b".eh_frame"])

    def text(self, at):
        return self.bytes[at:self.bytes.index(b"\0", at)]

    def read_symbols(self, table, headers):
        strings = headers[table[6]][4]
        for name, info, _, _, value, _ in struct.iter_unpack("<IBBHQQ", self.bytes[table[4]:table[4] + table[5]]):
            if info & 15 == 2:
                self.names[value] = self.text(strings + name).decode()
            elif self.text(strings + name) == CONTROL_SYMBOL:
                self.control = value

    def read_rules(self, section):
        """As linkers for x86-64 leave them: 32-bit lengths, addresses as sdata4 relative to their place."""
        address, at = section[3] - section[4], section[4]
        while at + 8 <= section[4] + section[5]:
            length, back = struct.unpack_from("<II", self.bytes, at)
            if length in (0, 0xFFFFFFFF):
                break
            if back != 0:
                start, = struct.unpack_from("<i", self.bytes, at + 8)
                skip, code = uleb(self.bytes, at + 16)
                self.rules[address + at + 8 + start] = at + 4 - back, self.bytes[code + skip:at + 4 + length]
            at += 4 + length

    def row(self, function, offset):
        row = Row()
        if function not in self.rules:
            return row
        cie, code = self.rules[function]
        length, = struct.unpack_from("<I", self.bytes, cie)
        augmentation = self.text(cie + 9)
        _, at = uleb(self.bytes, cie + 9 + len(augmentation) + 1)
        factor, at = sleb(self.bytes, at)
        _, at = uleb(self.bytes, at)
        if augmentation.startswith(b"z"):
            skip, at = uleb(self.bytes, at)
            at += skip
        row.run(self.bytes[at:cie + 4 + length], factor)
        initial = row.copy()
        row.run(code, factor, offset, initial)
        return row


class Ring:
    """Where the images of a file lie, and the file where it was loaded."""

    def __init__(self, file, bias, address, size, slot_bytes, text):
        self.file, self.bias, self.address, self.size, self.slot_bytes, self.text = file, bias, address, size, slot_bytes, text


class Moved:
    """A place in an image: the copy's first byte, the original function's, and how far the place is into either."""

    def __init__(self, ring, copy, original, offset):
        self.ring, self.copy, self.original, self.offset = ring, copy, original, offset


class Images:
    """The rings of the program that gdb looks at: the executable's, and those of shared libraries."""

    def __init__(self):
        self.files, self.rings = {}, []

    def file(self, path):
        if path not in self.files:
            self.files[path] = File(path)
        return self.files[path]

    def find(self, _=None):
        """Reads where the images are. Not from within unwinding: gdb evaluates an expression here."""
        self.rings = []
        path = gdb.current_progspace().filename
        if path is None or gdb.selected_inferior().pid == 0:
            return
        try:
            control = int(gdb.parse_and_eval("(unsigned long)&'stab::stab_control_pages'"))
            self.find_program(control, self.file(path))
            for i in range(LIBRARIES):
                self.find_library(self.read(control + LIBRARIES_AT + i * LIBRARY.size, LIBRARY.size))
        except gdb.error:
            pass
        gdb.invalidate_cached_frames()

    def find_program(self, control, file):
        ring, size, slot_bytes, text = CONTROL.unpack(self.read(control, CONTROL.size))[8:12]
        if file.control is not None and size != 0:
            self.rings.append(Ring(file, control - file.control, ring, size, slot_bytes, text))

    def find_library(self, entry):
        _, _, _, address, size, slot_bytes, text = LIBRARY.unpack(entry)
        for slot in range(min(SLOTS, size // slot_bytes) if slot_bytes else 0):
            try:
                magic, count, _ = HEADER.unpack(self.read(address + slot * slot_bytes, HEADER.size))
                if magic != MAGIC or count == 0:
                    continue
                start = ENTRY.unpack(self.read(address + slot * slot_bytes + HEADER.size, ENTRY.size))[2]
            except gdb.error:
                return  # behind the slots that there are
            path = gdb.solib_name(text + start)
            if path is not None:
                file = self.file(path)
                self.rings.append(Ring(file, text - file.text_start, address, size, slot_bytes, text))
            return

    def read(self, address, size):
        return bytes(gdb.selected_inferior().read_memory(address, size))

    def moved(self, pc, level):
        # A caller's pc lies behind its call, which may be its function's last instruction.
        address = pc - (1 if level > 0 else 0)
        for ring in self.rings:
            if 0 <= address - ring.address < ring.size:
                return self.moved_in(ring, address)
        return None

    def moved_in(self, ring, address):
        slot = address - (address - ring.address) % ring.slot_bytes
        magic, count, _ = HEADER.unpack(self.read(slot, HEADER.size))
        if magic != MAGIC:
            return None
        low, high = 0, count  # entries ascend by prefix
        while low < high:
            middle = (low + high) // 2
            prefix, body, start, size = ENTRY.unpack(self.read(slot + HEADER.size + middle * ENTRY.size, ENTRY.size))
            if address < slot + prefix:
                high = middle
            elif address >= slot + body + size:
                low = middle + 1
            else:
                return Moved(ring, slot + body, ring.text + start, max(0, address - slot - body))
        return None

    def name(self, moved):
        mangled = moved.ring.file.names.get(moved.original - moved.ring.bias)
        block = gdb.block_for_pc(moved.original)
        return block.function.name if block and block.function else mangled


images = Images()


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class MovedUnwinder(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("stab")

    def __call__(self, pending):
        moved = images.moved(int(pending.read_register("rip")), pending.level())
        if moved is None:
            return None
        try:
            row = moved.ring.file.row(moved.original - moved.ring.bias, moved.offset)
        except NotKnown:
            return None
        cfa = int(pending.read_register(REGISTERS[row.register])) + row.offset
        info = pending.create_unwind_info(FrameId(gdb.Value(cfa), gdb.Value(moved.copy)))
        for register in CALLEE_SAVED:
            value = pending.read_register(REGISTERS[register])
            if register not in row.saved and not value.is_optimized_out:
                info.add_saved_register(REGISTERS[register], value)
        for register, offset in row.saved.items():
            kind = pending.read_register(REGISTERS[register]).type
            saved = int.from_bytes(images.read(cfa + offset, 8), "little", signed=register != RIP)
            info.add_saved_register(REGISTERS[register], gdb.Value(saved).cast(kind))
        info.add_saved_register("rsp", gdb.Value(cfa).cast(pending.read_register("rsp").type))
        return info


class MovedFrame(FrameDecorator):
    def __init__(self, frame, moved):
        super().__init__(frame)
        self.moved = moved
        self.place = gdb.find_pc_line(moved.original + moved.offset)

    def function(self):
        return images.name(self.moved)

    def filename(self):
        return self.place.symtab.filename if self.place.symtab else None

    def line(self):
        return self.place.line if self.place.symtab else None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None


class MovedFrames:
    name, priority, enabled = "stab", 100, True

    def filter(self, frames):
        for frame in frames:
            inferior_frame = frame.inferior_frame()
            moved = images.moved(inferior_frame.pc(), inferior_frame.level())
            yield frame if moved is None else MovedFrame(frame, moved)


def code_moves():
    """Whether the program's code moves, or will when it is run."""
    if gdb.selected_inferior().pid != 0:
        return bool(images.rings)
    said = "".join(gdb.execute(f"show environment {name}", to_string=True) for name in ("STAB", "STAB_CODE"))
    return re.search(r"^STAB_CODE = (?!off$)|^STAB = \d\d,(?!-)", said, re.MULTILINE) is not None


def is_ours(address):
    """Whether an address is in a file whose code may move: the executable, or a library that szc made."""
    library = gdb.solib_name(address)
    return library is None or images.file(library).may_move


def warn_of_breakpoint(breakpoint):
    """gdb can't write into images; it must not look as if the program never came there."""
    if breakpoint.type != gdb.BP_BREAKPOINT or not code_moves():
        return
    if any(is_ours(location.address) for location in getattr(breakpoint, "locations", ())):  # from gdb 13 on
        gdb.write(f"stab: moved functions never come to breakpoint {breakpoint.number}: stop at a function of a library "
                  "that szc didn't make, or set environment STAB_CODE off\n")


gdb.frame_filters[MovedFrames.name] = MovedFrames()
gdb.unwinder.register_unwinder(None, MovedUnwinder(), replace=True)
gdb.events.stop.connect(images.find)
gdb.events.new_objfile.connect(images.find)
gdb.events.breakpoint_created.connect(warn_of_breakpoint)
images.find()
