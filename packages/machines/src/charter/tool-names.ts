/** The tool of a transition is its name after this. */
export const TRANSITION_PREFIX = 'transition_';

/** The built-in tool of nodes with state: it changes the fields it is given. */
export const UPDATE_STATE = 'updateState';

// Names that mean something to a machine. Not all are tools today: one that becomes one must not meet a user's.
const RESERVED: ReadonlySet<string> = new Set([UPDATE_STATE, 'transition', 'spawn', 'cede', 'suspend']);

/** Why a tool may not have this name, if it may not. */
export function nameProblem(name: string): string | undefined {
  if (RESERVED.has(name)) return `"${name}" is the name of a built-in tool. Choose another.`;
  if (name.startsWith(TRANSITION_PREFIX))
    return `names that begin with "${TRANSITION_PREFIX}" are those of transitions.`;
  return undefined;
}
