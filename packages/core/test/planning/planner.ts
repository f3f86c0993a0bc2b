import type { Prompt } from '../../src/contract/prompt.ts';
import { dispatchCall } from '../../src/dispatch/dispatch-call.ts';
import type { Plan } from '../../src/planning/plan.ts';
import { plan } from '../../src/planning/plan.ts';
import { planningSection } from '../../src/planning/planning-section.ts';
import { prompt } from '../../src/prompt/build-prompt.ts';
import type { Outcome } from '../../src/results/outcome.ts';
import { createSession } from '../../src/session/create-session.ts';
import type { Session } from '../../src/session/session.ts';

export const planning: Prompt = prompt({ ns: 'tests', key: 'planning', sections: [planningSection()] });

/** Calls the planning tools as a model would, on one session. */
export interface Planner {
  readonly session: Session;
  readonly plan: Plan | null;
  setUp(objective: string, initial_steps?: readonly string[]): Promise<Outcome>;
  add(...steps: string[]): Promise<Outcome>;
  update(step_id: number, change?: { title?: string; status?: string }): Promise<Outcome>;
  read(): Promise<Outcome>;
  call(toolName: string, input: object): Promise<Outcome>;
}

export function createPlanner(session: Session = createSession()): Planner {
  const call = async (toolName: string, input: object): Promise<Outcome> =>
    (await dispatchCall({ instructions: planning, session, call: { toolName, input } })).outcome;
  return {
    session,
    get plan() {
      return session.read(plan);
    },
    setUp: (objective, initial_steps = []) => call('planning_setup_plan', { objective, initial_steps }),
    add: (...steps) => call('planning_add_step', { steps }),
    update: (step_id, change = {}) => call('planning_update_step', { step_id, ...change }),
    read: () => call('planning_read_plan', {}),
    call,
  };
}
