import type { Agent } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { gatewayStatus } from './status.ts';

/** True once it is known that the agent runs as a machine. */
export function useIsMachine(agent: Agent | undefined): boolean {
  const { data: status } = useQuery(gatewayStatus);
  const { definitions = [] } = status ?? {};
  return definitions.some(({ name, machine }) => machine && name === agent?.config.definition);
}
