/** The limits of an agent, with what they are if nobody sets them. A test compares them with the gateway's own. */
export const LIMITS = [
  { key: 'maxSteps', label: 'Steps', unit: 'model replies in a run', standard: 50 },
  { key: 'tokensPerCycle', label: 'Tokens', unit: 'in and out, in a run', standard: 400_000 },
  { key: 'cycleTimeoutMs', label: 'Time', unit: 'milliseconds, of a run', standard: 600_000 },
  { key: 'consciousnessTokens', label: 'Memory of runs', unit: 'tokens, then it is summed up', standard: 32_000 },
  { key: 'eventsPerCycle', label: 'Events', unit: 'that one run takes up', standard: 50 },
  { key: 'inboxLength', label: 'Inbox', unit: 'events that may wait', standard: 10_000 },
  { key: 'maxAttempts', label: 'Attempts', unit: 'then an event is dead', standard: 5 },
  { key: 'hopLimit', label: 'Hops', unit: 'messages of agents in a row', standard: 8 },
  { key: 'maxGoals', label: 'Goals', unit: 'at most', standard: 50 },
  { key: 'maxMemories', label: 'Memories', unit: 'at most', standard: 200 },
  { key: 'maxPlans', label: 'Plans', unit: 'at most', standard: 50 },
  { key: 'noteLength', label: 'Note', unit: 'characters of a goal, memory or plan', standard: 4_000 },
  { key: 'subAgentDepth', label: 'Sub-agents', unit: 'inside each other', standard: 3 },
] as const;
