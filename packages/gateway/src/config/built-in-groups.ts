import { closestNames } from '@lastcall/core/internal';
import { z } from 'zod';

/** The built-in tools by what they are for. An agent may leave groups out. */
export const BUILT_IN_TOOLS: Readonly<Record<BuiltInGroup, readonly string[]>> = {
  messages: ['enter_space', 'send_message', 'read_messages'],
  goals: ['set_goals', 'delete_goals'],
  memories: ['set_memories', 'delete_memories'],
  plans: ['set_plans', 'delete_plans', 'get_plans'],
  // Reads outputs that were moved out of the transcript.
  outputs: ['read_output'],
};

export type BuiltInGroup = 'messages' | 'goals' | 'memories' | 'plans' | 'outputs';

export const BUILT_IN_GROUPS: readonly BuiltInGroup[] = Object.keys(BUILT_IN_TOOLS) as BuiltInGroup[];

const groupSchema = z.enum(BUILT_IN_GROUPS, {
  error: ({ input }) => {
    const [closest] = typeof input === 'string' ? closestNames(input, BUILT_IN_GROUPS) : [];
    const hint = closest === undefined ? '' : ` Did you mean "${closest}"?`;
    return `must be one of ${BUILT_IN_GROUPS.map((group) => `"${group}"`).join(', ')}.${hint}`;
  },
});

export const builtInsSchema: z.ZodType<readonly BuiltInGroup[]> = z
  .array(groupSchema)
  .max(BUILT_IN_GROUPS.length)
  .superRefine((groups, ctx) => {
    for (const [index, group] of groups.entries())
      if (groups.indexOf(group) < index)
        ctx.addIssue({ code: 'custom', path: [index], message: `names "${group}" a second time. Remove one.` });
  })
  .meta({ description: 'The groups of built-in tools that the agent has. Default: all.' });
