export const spaceStream = (spaceId: string): string => `space:${spaceId}`;
export const runStream = (runId: string): string => `run:${runId}`;
/** The stream for the jobs of an agent's `external` tools. */
export const jobsStream = (agentId: string): string => `jobs:${agentId}`;
