export const spaceChannel = (spaceId: string): string => `space:${spaceId}`;
export const runChannel = (runId: string): string => `run:${runId}`;
/** The channel for the jobs of an agent's `external` tools. */
export const jobsChannel = (agentId: string): string => `jobs:${agentId}`;
