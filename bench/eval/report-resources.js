// Loaded into a process that is measured: when it exits, it writes its resource usage to its fourth stream.
import { writeSync } from 'node:fs';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeSync(3, JSON.stringify({ processorMs: (userCPUTime + systemCPUTime) / 1_000, mb: maxRSS / 1_024 }));
});
