import { PromptValidationError } from '../errors.ts';

/** How the instructions ask a model to work with its plan. */
export type PlanningStrategy = 'react' | 'plan_act_reflect' | 'goal_decompose_route_synthesise';

const INSTRUCTIONS: Readonly<Record<PlanningStrategy, string>> = {
  react: `Work in short rounds of thought, action and observation:

1. Think: say in a sentence what you know and what the next useful thing is.
2. Act: call the one tool that does it.
3. Observe: read the result before you decide anything else, and let it change your mind.

Keep the plan as light as the task. Start it with the steps you can see, add steps as observations call for them, and mark each one done when its result is in.`,

  plan_act_reflect: `Plan first, then act, then look back:

1. Plan: before you touch anything else, write the whole plan, from the first step to the check that proves the objective is met.
2. Act: take the steps in their order, one in progress at a time, and do not leave a step half done to begin another.
3. Reflect: after each step, compare what came out with what the plan expected. Where they differ, retitle the steps ahead or add what is missing, and only then go on.

Before you finish, read the plan once more and judge the outcome against its objective.`,

  goal_decompose_route_synthesise: `Divide the goal, send each part where it is done best, and put the answers together:

1. Goal: state the objective so that one could tell whether it has been reached.
2. Decompose: make a step of each part that can be solved and checked by itself.
3. Route: for each step choose the tool or the kind of reasoning that suits it, and do the parts that others depend on first.
4. Synthesise: keep a last step for joining the partial results, settling what contradicts, and answering the goal as a whole.`,
};

/** The instructions of a strategy, by its name in lower or upper case. Refuses an unknown one and lists those that exist. */
export function strategyInstructions(strategy: PlanningStrategy | Uppercase<PlanningStrategy>): string {
  for (const [name, instructions] of Object.entries(INSTRUCTIONS))
    if (strategy === name || strategy === name.toUpperCase()) return instructions;
  const known = Object.keys(INSTRUCTIONS).join(', ');
  throw new PromptValidationError(
    `There is no planning strategy ${JSON.stringify(strategy) ?? typeof strategy}. Strategies: ${known}.`,
  );
}
