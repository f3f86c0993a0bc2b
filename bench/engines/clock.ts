/** Milliseconds of the machine's clock, the same in all its processes. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Milliseconds of processor time that this process took since it started. */
export function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
