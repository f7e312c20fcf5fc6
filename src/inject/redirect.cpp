// SPDX-License-Identifier: Apache-2.0
#include "inject/redirect.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace hypermile {
namespace {

#if defined(__x86_64__)
constexpr unsigned kJumpSlot = R_X86_64_JUMP_SLOT;
constexpr unsigned kGlobalData = R_X86_64_GLOB_DAT;
constexpr unsigned kAddress = R_X86_64_64;
#elif defined(__aarch64__)
constexpr unsigned kJumpSlot = R_AARCH64_JUMP_SLOT;
constexpr unsigned kGlobalData = R_AARCH64_GLOB_DAT;
constexpr unsigned kAddress = R_AARCH64_ABS64;
#else
#error "this processor's relocations are not known here"
#endif

using Word = ElfW(Addr);

Word page_size() {
  return static_cast<Word>(::sysconf(_SC_PAGESIZE));
}

Word page_of(Word address) {
  return address & ~(page_size() - 1);
}

// The protection of the page of `address` according to the object's own headers; -1 if the address
// is outside the object.
int protection_of(const dl_phdr_info& object, Word address) {
  int protection = -1;
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    const Word begin = object.dlpi_addr + segment.p_vaddr;
    if (address < begin || address >= begin + segment.p_memsz) continue;
    if (segment.p_type == PT_LOAD)
      protection = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
                   ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                   ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
    // The linker rounds the end down, because the last page may hold data that must stay writable.
    if (segment.p_type == PT_GNU_RELRO && address < page_of(begin + segment.p_memsz))
      return PROT_READ;
  }
  return protection;
}

// Stores one aligned word in a page of any protection and restores the protection afterwards.
bool store(const dl_phdr_info& object, Word* at, Word value) {
  const auto address = reinterpret_cast<Word>(at);
  const int protection = protection_of(object, address);
  if (protection < 0 || address % sizeof(Word) != 0) return false;
  void* page = reinterpret_cast<void*>(page_of(address));
  const bool locked = (protection & PROT_WRITE) == 0;
  if (locked && ::mprotect(page, page_size(), PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
  if (locked) ::mprotect(page, page_size(), protection);
  return true;
}

struct Request {
  Word function;
  Word replacement;
  ElfW(Sym) * symbol;  // the library's entry
  bool done;
};

int change_symbol(dl_phdr_info* object, std::size_t, void* user) {
  auto* request = static_cast<Request*>(user);
  Word* value = &request->symbol->st_value;
  if (protection_of(*object, reinterpret_cast<Word>(value)) < 0) return 0;
  // The linker adds the library's base to the value; the sum wraps to the replacement's address.
  request->done = store(*object, value, request->replacement - object->dlpi_addr);
  return 1;
}

void change_slots(const dl_phdr_info& object, const Request& request,
                  const ElfW(Rela) * relocations, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto type = static_cast<unsigned>(ELF64_R_TYPE(relocations[i].r_info));
    if (type != kJumpSlot && type != kGlobalData && type != kAddress) continue;
    auto* slot = reinterpret_cast<Word*>(object.dlpi_addr + relocations[i].r_offset);
    if (*slot == request.function) store(object, slot, request.replacement);
  }
}

int change_object(dl_phdr_info* object, std::size_t, void* user) {
  const auto& request = *static_cast<const Request*>(user);
  const ElfW(Dyn)* entry = nullptr;
  for (unsigned i = 0; i < object->dlpi_phnum; ++i)
    if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
  if (!entry) return 0;
  Word plt = 0;
  Word rela = 0;
  std::size_t plt_bytes = 0;
  std::size_t rela_bytes = 0;
  std::size_t relative = 0;  // relative relocations come first and name no symbol
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_JMPREL) plt = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) plt_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) rela = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) rela_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELACOUNT) relative = entry->d_un.d_val;
  }
  // The kernel's own object (vDSO) has addresses that nobody relocated, and needs no change.
  if (plt > object->dlpi_addr)
    change_slots(*object, request, reinterpret_cast<const ElfW(Rela)*>(plt),
                 plt_bytes / sizeof(ElfW(Rela)));
  if (rela > object->dlpi_addr && rela_bytes / sizeof(ElfW(Rela)) > relative)
    change_slots(*object, request, reinterpret_cast<const ElfW(Rela)*>(rela) + relative,
                 rela_bytes / sizeof(ElfW(Rela)) - relative);
  return 0;
}

}  // namespace

bool redirect(void* function, void* replacement) {
  Dl_info info{};
  void* symbol = nullptr;
  if (::dladdr1(function, &info, &symbol, RTLD_DL_SYMENT) == 0 || !symbol ||
      info.dli_saddr != function)
    return false;
  Request request{reinterpret_cast<Word>(function), reinterpret_cast<Word>(replacement),
                  static_cast<ElfW(Sym)*>(symbol), false};
  ::dl_iterate_phdr(change_symbol, &request);
  if (!request.done) return false;
  ::dl_iterate_phdr(change_object, &request);
  return true;
}

}  // namespace hypermile
