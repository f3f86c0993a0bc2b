import type { Run } from '@lastcall/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { agentNames } from '../../data/runs.ts';

/** The name of the agent of a run. */
export function useAgentName({ agentId, createdAt }: Pick<Run, 'agentId' | 'createdAt'>): string {
  const { data: names, dataUpdatedAt, refetch } = useQuery(agentNames);
  // The list may be older than the agent.
  const isTooOld = names !== undefined && !names.has(agentId) && dataUpdatedAt < createdAt;
  useEffect(() => {
    if (isTooOld) void refetch({ cancelRefetch: false });
  }, [isTooOld, refetch]);
  return names?.get(agentId) ?? (names === undefined || isTooOld ? 'an agent' : 'a deleted agent');
}
