// The runs and the output of one group of a MergeBlocksJob.
#pragma once

#include <vector>

#include "native/merge.h"

namespace lanesort {

inline void AppendRuns(const MergeBlocksJob& job, size_t group, std::vector<Run>& runs) {
  const ptrdiff_t g = static_cast<ptrdiff_t>(group);
  runs.reserve(runs.size() + job.ways);
  for (size_t way = 0; way < job.ways; ++way) {
    const ptrdiff_t w = static_cast<ptrdiff_t>(way);
    runs.push_back({job.values + g * job.values_group + w * job.values_way, job.value_step,
                    job.payload + g * job.payload_group + w * job.payload_way, job.payload_step,
                    way * job.length, job.length});
  }
}

inline std::vector<Run> GroupRuns(const MergeBlocksJob& job, size_t group) {
  std::vector<Run> runs;
  AppendRuns(job, group, runs);
  return runs;
}

inline PairsOut GroupOut(const MergeBlocksJob& job, size_t group) {
  const ptrdiff_t g = static_cast<ptrdiff_t>(group);
  return {job.out.values + g * job.out_values_group, job.out.value_step, job.out.indices + g * job.out_indices_group,
          job.out.index_step};
}

}  // namespace lanesort
