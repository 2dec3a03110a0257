"""Which module defines which name of `tensim.ttnn`."""

PLACES = {
    "accessors": "TensorAccessorArgs",
    "cores": """CoreCoord CoreRange CoreRangeSet CoreGrid split_work_to_cores num_cores_to_corerangeset
        num_cores_to_corerangeset_in_subcoregrids corerange_to_cores grid_to_cores""",
    "cb_descriptors": """CBDescriptor CBFormatDescriptor TileDescriptor FaceGeometry cb_descriptor_from_sharded_tensor
        get_cb_address""",
    "conversion": """from_torch to_torch to_device from_device allocate_tensor_on_device allocate_tensor_on_host
        copy_host_to_device_tensor copy_device_to_host_tensor deallocate reallocate move get_device_tensors
        combine_device_tensors from_host_shards distribute distribute_tensor aggregate_tensor aggregate_as_tensor
        dump_tensor load_tensor get_optimal_worker_cores_for_sharded_tensor""",
    "descriptors": """KernelDescriptor SemaphoreDescriptor ProgramDescriptor MeshProgramDescriptor ReaderConfigDescriptor
        WriterConfigDescriptor DataMovementConfigDescriptor ComputeConfigDescriptor merge_program_descriptors""",
    "devices": """MeshDevice Device open_device close_device CreateDevice CloseDevice open_mesh_device close_mesh_device
        create_mesh_device manage_device SetDefaultDevice GetDefaultDevice synchronize_device DispatchCoreConfig""",
    "enums": """DataType Layout BufferType TensorMemoryLayout ShardOrientation ShardStrategy ShardDistributionStrategy
        ShardShapeAlignment StorageType Arch CoreType DispatchCoreType DispatchCoreAxis DataMovementProcessor NOC NOC_MODE
        MathFidelity UnpackToDestMode bfloat16 float32 uint32 bfloat8_b bfloat4_b uint8 uint16 int32 int8 fp8_e4m3
        ROW_MAJOR_LAYOUT TILE_LAYOUT FabricConfig FabricReliabilityMode FabricTensixConfig FabricUDMMode
        FabricManagerMode""",
    "fabric": "FabricRouterConfig FabricNodeId MeshId",
    "fabric_config": "set_fabric_config get_fabric_config",
    "fabric_connections": """setup_fabric_connection setup_routing_plane_connection get_fabric_kernel_defines
        get_tt_fabric_packet_header_size_bytes get_tt_fabric_max_payload_size_bytes""",
    "light_metal": "LightMetalBinary LightMetalReplay light_metal_begin_capture light_metal_end_capture",
    "memory": """ShardSpec NdShardSpec MemoryConfig TensorSpec create_sharded_memory_config DRAM_MEMORY_CONFIG
        L1_MEMORY_CONFIG L1_BLOCK_SHARDED_MEMORY_CONFIG L1_HEIGHT_SHARDED_MEMORY_CONFIG
        L1_WIDTH_SHARDED_MEMORY_CONFIG""",
    "mappers": """ReplicateTensorToMesh ShardTensorToMesh ShardTensor2dMesh ConcatMeshToTensor ConcatMesh2dToTensor
        MeshMapperConfig MeshComposerConfig PlacementShard PlacementReplicate create_mesh_mapper create_mesh_composer
        CppTensorToMesh CppMeshToTensor TensorToMesh MeshToTensor""",
    "memory_views": """get_dram_alignment get_l1_alignment get_max_worker_l1_unreserved_size get_memory_view MemoryView""",
    "meshes": "MeshShape MeshCoordinate MeshCoordinateRange MeshCoordinateRangeSet",
    "operations": """to_layout tilize untilize tilize_with_val_padding tilize_with_zero_padding untilize_with_unpadding to_dtype
        typecast to_memory_config interleaved_to_sharded sharded_to_interleaved reshard clone identity copy reshape view pad
        slice squeeze unsqueeze unsqueeze_to_4D permute transpose repeat concat full zeros ones full_like zeros_like ones_like
        empty empty_like arange rand add subtract sub multiply mul divide div maximum minimum relu neg abs exp sqrt rsqrt
        reciprocal square sigmoid silu tanh""",
    "programs": "generic_op compute_program_descriptor_hash",
    "queues": """begin_trace_capture end_trace_capture execute_trace release_trace is_trace_capture_active MeshTraceId
        MeshEvent record_event wait_for_event event_synchronize create_global_semaphore get_global_semaphore_address
        reset_global_semaphore_value ReadDeviceProfiler get_latest_programs_perf_data get_all_programs_perf_data
        get_latest_kernel_duration_summary get_all_kernel_duration_summary start_tracy_zone stop_tracy_zone tracy_message
        tracy_frame""",
    "runtime_args": "RuntimeArgs",
    "shapes": "Shape Tile tile_size TILE_SIZE",
    "sub_devices": "SubDevice SubDeviceId",
    "systems": """GetNumAvailableDevices GetNumPCIeDevices GetPCIeDeviceID get_num_devices get_device_ids
        get_pcie_device_ids get_arch_name""",
    "tensors": "Tensor",
}  # fmt: skip
MODULE_OF = {name: module for module, names in PLACES.items() for name in names.split()}
# Operations of the library that run kernels of its own
LIBRARY = (
    "matmul linear conv1d conv2d conv_transpose2d softmax gelu layer_norm rms_norm group_norm batch_norm embedding sum mean max "
    "min prod std var argmax topk sort where transformer experimental all_gather reduce_scatter all_reduce max_pool2d avg_pool2d "
    "upsample addmm addcmul addcdiv log pow sin cos cumsum gather scatter fold bmm sampling moreh point_to_point "
    "all_broadcast create_global_circular_buffer create_socket_pair MeshSocket"
).split()
# What describes the pipes of the library's own kernels
PIPES = """Mcast Mcast1D Mcast2D McastConfig McastCoreOrder McastDataReady McastSenderPlacement McastFixedSenderConfig
    McastExplicitFixedSenderConfig McastRotatingSenderConfig reduce_planner""".split()
