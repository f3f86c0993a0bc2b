import type { RequestedCall } from '../transcript/entry.ts';

/** The role of a call in the turn, known before anything runs. */
export type CallRole = 'plain' | 'terminal' | 'listed' | 'transition' | 'rewind';

/** A plain call may turn out to be final: it ends the turn if the whole batch succeeds. */
export type EndedRole = CallRole | 'final';

export interface PlannedCall extends RequestedCall {
  readonly role: CallRole;
  /** Its index among the calls. */
  readonly place: number;
}

/** What the plan needs to know about a tool. */
export interface ToolTraits {
  readonly terminal: boolean;
  readonly transition: boolean;
  readonly rewind: boolean;
  readonly effects: 'none' | 'session' | 'external';
  readonly needsApproval: boolean;
}

export interface PlanRules {
  readonly traitsOf: (toolName: string) => ToolTraits | undefined;
  /** The names that end the run, if it has a terminating contract. */
  readonly listed: ReadonlySet<string> | undefined;
  readonly cancelRest: boolean;
  readonly transitions: 'in-place' | 'last';
}

/** A batch in groups: the calls of a group run in parallel, the groups one after another. */
export type BatchPlan = readonly (readonly PlannedCall[])[];

/** The groups in the order they run. */
export function planBatch(calls: readonly RequestedCall[], rules: PlanRules): BatchPlan {
  const groups = groupCalls(calls, rules);
  return rules.transitions === 'last' ? transitionsLast(groups) : groups;
}

/**
 * Transitions run last, so that their targets find the result of the whole batch. Each is a group by itself, so moving
 * them splits no group.
 */
function transitionsLast(groups: BatchPlan): BatchPlan {
  const isTransition = ([first]: readonly PlannedCall[]): boolean => first?.role === 'transition';
  return [...groups.filter((group) => !isTransition(group)), ...groups.filter(isTransition)];
}

/**
 * Classifies all calls of a batch before any runs, because a transition anywhere in it takes precedence over a terminal
 * call. Only neighbours without effects share a group; a call that may end the turn, hand over or wait is a group by
 * itself.
 */
function groupCalls(calls: readonly RequestedCall[], rules: PlanRules): BatchPlan {
  const groups: PlannedCall[][] = [];
  let open: PlannedCall[] | undefined;
  for (let place = 0; place < calls.length; place++) {
    const call = calls[place] as RequestedCall;
    const traits = rules.traitsOf(call.toolName);
    const planned: PlannedCall = { ...call, role: roleOf(call.toolName, traits, rules), place };
    const joins = !rules.cancelRest && planned.role === 'plain' && traits?.effects === 'none' && !traits.needsApproval;
    if (joins && open !== undefined) {
      open.push(planned);
      continue;
    }
    const group = [planned];
    groups.push(group);
    open = joins ? group : undefined;
  }
  return groups;
}

function roleOf(toolName: string, traits: ToolTraits | undefined, rules: PlanRules): CallRole {
  if (traits === undefined) return 'plain';
  if (traits.transition) return 'transition';
  if (traits.rewind) return 'rewind';
  // Under a contract only listed tools end the run: a terminal tool that is not listed is a plain one.
  if (rules.listed !== undefined) return rules.listed.has(toolName) ? 'listed' : 'plain';
  return traits.terminal ? 'terminal' : 'plain';
}
