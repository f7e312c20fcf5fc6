// SPDX-License-Identifier: Apache-2.0
//
// Replaces a header of CUDA's compiler that the packages with CUPTI's headers do not contain. Its
// macros mean nothing to a host compiler that only checks layouts.
#pragma once

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __host__
#define __device__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
