/** The tool of a transition is named with this prefix. */
export const TRANSITION_PREFIX = 'transition_';

/** The built-in tool of nodes with state: it changes the given fields. */
export const UPDATE_STATE = 'updateState';

// Names that a machine reserves. Not all are tools today: a future built-in tool must not collide with a user's tool.
const RESERVED: ReadonlySet<string> = new Set([UPDATE_STATE, 'transition', 'spawn', 'cede', 'suspend']);

/** Why a tool may not have this name; undefined if it may. */
export function nameProblem(name: string): string | undefined {
  if (RESERVED.has(name)) return `"${name}" is the name of a built-in tool. Choose another.`;
  if (name.startsWith(TRANSITION_PREFIX))
    return `names that begin with "${TRANSITION_PREFIX}" are those of transitions.`;
  return undefined;
}
