import { z } from 'zod';
import { modelSettingsSchema } from '../../../config/model-settings.ts';
import { agentConfigJson } from './shown-config.ts';

const outcomeSchema = z.union(
  [
    z.strictObject({
      result: z.unknown().refine((value) => value !== undefined, { error: 'is missing.', abort: true }),
    }),
    z.strictObject({ error: z.string().min(1).max(100_000) }),
    z.strictObject({ deny: z.string().min(1).max(100_000) }),
  ],
  { error: 'must be { result }, { error } or { deny }.' },
);

const nodeChangesSchema: z.ZodType = z
  .strictObject({
    instructions: z.string().max(200_000).optional().meta({ description: "In place of the node's." }),
    model: z.string().min(1).max(200).optional().meta({ description: "In place of the node's, or the agent's." }),
  })
  .meta({ id: 'NodeChanges', description: 'What is different in a node of a machine.' });

export const nodesSchema: z.ZodType = z
  .record(z.string().min(1).max(200), nodeChangesSchema)
  .optional()
  .meta({ description: 'What is different in nodes of a machine, by the names of the nodes.' });

export const forkChangesSchema: z.ZodType = z
  .strictObject({
    instructions: z.string().max(200_000).optional().meta({ description: "In place of the agent's." }),
    model: z
      .union([z.string().min(1).max(200), z.array(z.string().min(1).max(200)).min(1).max(10)])
      .optional()
      .meta({ description: "In place of the agent's." }),
    settings: modelSettingsSchema.optional().meta({ description: 'They replace those of the same name.' }),
    message: z
      .string()
      .max(200_000)
      .regex(/\S/, { error: 'must not be empty.' })
      .optional()
      .meta({ description: 'A message that is added before the request of the step.' }),
    outcomes: z
      .record(z.string().min(1).max(200), outcomeSchema)
      .optional()
      .meta({ description: 'Other outcomes of calls of the run, by the ids of the calls.' }),
    tools: z
      .array(z.string().min(1).max(200))
      .max(500)
      .optional()
      .meta({ description: "Names of tools, in place of those in the agent's configuration." }),
    nodes: nodesSchema,
  })
  .meta({ id: 'ForkChanges', description: 'What is different in a fork.' });

export const trialSchema: z.ZodType = z
  .strictObject({
    kind: z.enum(['fork', 'draft']),
    runId: z
      .string()
      .optional()
      .meta({ description: 'The run that it was forked from, or whose message the draft answers again.' }),
  })
  .meta({ id: 'Trial', description: 'Says that a run only tries something.' });

export const forkedFromSchema: z.ZodType = z
  .strictObject({
    runId: z.string().meta({ description: 'The run that it was forked from.' }),
    atStep: z.int().meta({ description: 'The first step that the fork does itself.' }),
    changes: forkChangesSchema,
  })
  .meta({ id: 'ForkedFrom', description: 'What a run was forked from, and what was changed.' });

export const forkSchema: z.ZodType = z
  .strictObject({
    runId: z.string().meta({ description: 'The first run of the fork.' }),
    contextId: z.string().meta({ description: 'The conversation of the fork.' }),
    atStep: z.int(),
    changes: forkChangesSchema,
    createdAt: z.int(),
  })
  .meta({ id: 'Fork', description: 'A conversation that continues a run from one of its steps.' });

// A machine is no data, and always refused.
const { machine: _machine, ...draftFields } = agentConfigJson.properties ?? {};

export const draftChangesSchema: z.ZodType = z.looseObject({}).meta({
  id: 'DraftChanges',
  description: "Fields of the agent's configuration that are not saved. `null` removes a field.",
  properties: draftFields,
});

export const draftSchema: z.ZodType = z
  .strictObject({
    changes: draftChangesSchema,
    nodes: nodesSchema,
    after: z.string().optional().meta({ description: 'The run before it in the conversation.' }),
    again: z.string().optional().meta({ description: 'The run whose message it answers again.' }),
  })
  .meta({ id: 'Draft', description: 'How a run of a draft differs from those of the saved agent.' });
