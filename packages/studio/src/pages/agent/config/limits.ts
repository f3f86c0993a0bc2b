/** The limits of an agent. A test compares them with the gateway's. */
export const LIMITS = [
  { key: 'maxSteps', label: 'Steps', unit: 'model replies in a run' },
  { key: 'tokensPerCycle', label: 'Tokens', unit: 'in and out, in a run' },
  { key: 'cycleTimeoutMs', label: 'Time', unit: 'milliseconds, of a run' },
  { key: 'consciousnessTokens', label: 'Memory of runs', unit: 'tokens, then it is summed up' },
  { key: 'eventsPerCycle', label: 'Events', unit: 'that one run handles' },
  { key: 'inboxLength', label: 'Inbox', unit: 'events that may wait' },
  { key: 'maxAttempts', label: 'Attempts', unit: 'then an event is dead' },
  { key: 'hopLimit', label: 'Hops', unit: 'messages of agents in a row' },
  { key: 'maxGoals', label: 'Goals', unit: 'at most' },
  { key: 'maxMemories', label: 'Memories', unit: 'at most' },
  { key: 'maxPlans', label: 'Plans', unit: 'at most' },
  { key: 'noteLength', label: 'Note', unit: 'characters of a goal, memory or plan' },
  { key: 'subAgentDepth', label: 'Sub-agents', unit: 'inside each other' },
] as const;
