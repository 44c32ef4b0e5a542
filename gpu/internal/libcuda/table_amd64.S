//go:build cuda && linux && amd64 && cgo

// The functions of the driver that gorgonia.org/cu v0.9.6 imports, in the
// versions that CUDA 12.2's cuda.h gives their names, and those that this
// package calls itself. Of each there is: a function that jumps through its
// slot, the slot, and its name. A function that is missing here fails to link.
//
// The functions are hidden: were they exported, the driver's own calls of them
// would end here.

	.macro symbol name
	.text
	.hidden \name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	endbr64
	jmp *libcuda_slot_\name(%rip)
	.size \name, . - \name

	.section .data.libcuda_slots, "aw"
	.p2align 3
libcuda_slot_\name:
	.quad libcuda_not_initialized

	.section .rodata.libcuda_strings, "a"
libcuda_string_\name:
	.asciz "\name"

	.section .data.rel.ro.libcuda_names, "aw"
	.p2align 3
	.quad libcuda_string_\name
	.endm

	.section .data.libcuda_slots, "aw"
	.p2align 3
	.hidden libcuda_slots
	.globl libcuda_slots
libcuda_slots:

	.section .data.rel.ro.libcuda_names, "aw"
	.p2align 3
	.hidden libcuda_names
	.globl libcuda_names
libcuda_names:

	symbol cuArray3DCreate_v2
	symbol cuArray3DGetDescriptor_v2
	symbol cuArrayCreate_v2
	symbol cuArrayDestroy
	symbol cuArrayGetDescriptor_v2
	symbol cuCtxCreate_v2
	symbol cuCtxDestroy_v2
	symbol cuCtxDisablePeerAccess
	symbol cuCtxEnablePeerAccess
	symbol cuCtxGetApiVersion
	symbol cuCtxGetCacheConfig
	symbol cuCtxGetCurrent
	symbol cuCtxGetDevice
	symbol cuCtxGetFlags
	symbol cuCtxGetLimit
	symbol cuCtxGetSharedMemConfig
	symbol cuCtxGetStreamPriorityRange
	symbol cuCtxPopCurrent_v2
	symbol cuCtxPushCurrent_v2
	symbol cuCtxResetPersistingL2Cache
	symbol cuCtxSetCacheConfig
	symbol cuCtxSetCurrent
	symbol cuCtxSetLimit
	symbol cuCtxSetSharedMemConfig
	symbol cuCtxSynchronize
	symbol cuDeviceCanAccessPeer
	symbol cuDeviceGet
	symbol cuDeviceGetAttribute
	symbol cuDeviceGetCount
	symbol cuDeviceGetName
	symbol cuDeviceGetP2PAttribute
	symbol cuDeviceGetUuid
	symbol cuDeviceGetUuid_v2
	symbol cuDevicePrimaryCtxGetState
	symbol cuDevicePrimaryCtxRelease_v2
	symbol cuDevicePrimaryCtxReset_v2
	symbol cuDevicePrimaryCtxRetain
	symbol cuDevicePrimaryCtxSetFlags_v2
	symbol cuDeviceTotalMem_v2
	symbol cuDriverGetVersion
	symbol cuEventCreate
	symbol cuEventDestroy_v2
	symbol cuEventElapsedTime
	symbol cuEventQuery
	symbol cuEventRecord
	symbol cuEventSynchronize
	symbol cuFuncGetAttribute
	symbol cuFuncSetCacheConfig
	symbol cuFuncSetSharedMemConfig
	symbol cuGetErrorName
	symbol cuGraphAddChildGraphNode
	symbol cuGraphAddDependencies
	symbol cuGraphAddEmptyNode
	symbol cuGraphAddHostNode
	symbol cuGraphAddKernelNode_v2
	symbol cuGraphAddMemcpyNode
	symbol cuGraphAddMemsetNode
	symbol cuGraphClone
	symbol cuGraphCreate
	symbol cuGraphDestroy
	symbol cuGraphDestroyNode
	symbol cuGraphExecDestroy
	symbol cuGraphGetEdges
	symbol cuLaunchKernel
	symbol cuLinkAddData_v2
	symbol cuLinkAddFile_v2
	symbol cuLinkComplete
	symbol cuLinkCreate_v2
	symbol cuLinkDestroy
	symbol cuMemAdvise
	symbol cuMemAllocManaged
	symbol cuMemAllocPitch_v2
	symbol cuMemAlloc_v2
	symbol cuMemFreeHost
	symbol cuMemFree_v2
	symbol cuMemGetAddressRange_v2
	symbol cuMemGetInfo_v2
	symbol cuMemHostAlloc
	symbol cuMemPrefetchAsync
	symbol cuMemcpy
	symbol cuMemcpy2DAsync_v2
	symbol cuMemcpy2DUnaligned_v2
	symbol cuMemcpy2D_v2
	symbol cuMemcpy3DAsync_v2
	symbol cuMemcpy3DPeer
	symbol cuMemcpy3DPeerAsync
	symbol cuMemcpy3D_v2
	symbol cuMemcpyAsync
	symbol cuMemcpyAtoA_v2
	symbol cuMemcpyAtoD_v2
	symbol cuMemcpyAtoHAsync_v2
	symbol cuMemcpyAtoH_v2
	symbol cuMemcpyDtoA_v2
	symbol cuMemcpyDtoDAsync_v2
	symbol cuMemcpyDtoD_v2
	symbol cuMemcpyDtoHAsync_v2
	symbol cuMemcpyDtoH_v2
	symbol cuMemcpyHtoAAsync_v2
	symbol cuMemcpyHtoA_v2
	symbol cuMemcpyHtoDAsync_v2
	symbol cuMemcpyHtoD_v2
	symbol cuMemcpyPeer
	symbol cuMemcpyPeerAsync
	symbol cuMemsetD16Async
	symbol cuMemsetD16_v2
	symbol cuMemsetD2D16Async
	symbol cuMemsetD2D16_v2
	symbol cuMemsetD2D32Async
	symbol cuMemsetD2D32_v2
	symbol cuMemsetD2D8Async
	symbol cuMemsetD2D8_v2
	symbol cuMemsetD32Async
	symbol cuMemsetD32_v2
	symbol cuMemsetD8Async
	symbol cuMemsetD8_v2
	symbol cuModuleGetFunction
	symbol cuModuleGetGlobal_v2
	symbol cuModuleGetSurfRef
	symbol cuModuleGetTexRef
	symbol cuModuleLoad
	symbol cuModuleLoadData
	symbol cuModuleLoadDataEx
	symbol cuModuleLoadFatBinary
	symbol cuModuleUnload
	symbol cuOccupancyMaxActiveBlocksPerMultiprocessor
	symbol cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
	symbol cuPointerGetAttribute
	symbol cuPointerSetAttribute
	symbol cuStreamAttachMemAsync
	symbol cuStreamCreate
	symbol cuStreamCreateWithPriority
	symbol cuStreamDestroy_v2
	symbol cuStreamGetFlags
	symbol cuStreamGetPriority
	symbol cuStreamQuery
	symbol cuStreamSynchronize
	symbol cuStreamWaitEvent
	symbol cuStreamWaitValue32_v2
	symbol cuStreamWriteValue32_v2
	symbol cuSurfRefGetArray
	symbol cuSurfRefSetArray
	symbol cuTexRefGetAddressMode
	symbol cuTexRefGetAddress_v2
	symbol cuTexRefGetArray
	symbol cuTexRefGetBorderColor
	symbol cuTexRefGetFilterMode
	symbol cuTexRefGetFlags
	symbol cuTexRefGetFormat
	symbol cuTexRefGetMaxAnisotropy
	symbol cuTexRefSetAddress2D_v3
	symbol cuTexRefSetAddressMode
	symbol cuTexRefSetAddress_v2
	symbol cuTexRefSetArray
	symbol cuTexRefSetBorderColor
	symbol cuTexRefSetFilterMode
	symbol cuTexRefSetFlags
	symbol cuTexRefSetFormat
	symbol cuTexRefSetMaxAnisotropy
	symbol cuTexRefSetMipmapFilterMode
	symbol cuTexRefSetMipmapLevelBias
	symbol cuTexRefSetMipmapLevelClamp

	.section .data.rel.ro.libcuda_names, "aw"
	.quad 0

	.text
	.type libcuda_not_initialized, @function
	.p2align 4
libcuda_not_initialized:
	endbr64
	movl $3, %eax // CUDA_ERROR_NOT_INITIALIZED
	ret
	.size libcuda_not_initialized, . - libcuda_not_initialized

	.hidden libcuda_not_found
	.globl libcuda_not_found
	.type libcuda_not_found, @function
	.p2align 4
libcuda_not_found:
	endbr64
	movl $500, %eax // CUDA_ERROR_NOT_FOUND
	ret
	.size libcuda_not_found, . - libcuda_not_found

	.section .note.GNU-stack, "", @progbits
