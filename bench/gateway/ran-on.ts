import type { BenchGateway } from './start-gateway.ts';

/** How often the tool ran since the last call of this function. Each run calls the tool once. */
export async function ranOn(gateways: readonly BenchGateway[]): Promise<number> {
  const ran = await Promise.all(gateways.map((gateway) => gateway.ranAt()));
  return ran.reduce((sum, { length }) => sum + length, 0);
}
