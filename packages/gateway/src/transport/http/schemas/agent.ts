import { z } from 'zod';
import { projectField } from '../fields.ts';
import { inboxErrorSchema, inboxEventSchema } from './inbox-event.ts';
import { agentConfigJson } from './shown-config.ts';

export const agentStatusSchema: z.ZodEnum<{
  active: 'active';
  paused: 'paused';
  invalid: 'invalid';
  deleted: 'deleted';
}> = z.enum(['active', 'paused', 'invalid', 'deleted']);

// Machines are refused until the gateway runs them.
const { machine: _machine, ...configProperties } = agentConfigJson.properties ?? {};

const configSchema = z.looseObject({}).meta({
  id: 'AgentConfig',
  description: "An agent's configuration.",
  properties: configProperties,
  required: agentConfigJson.required,
  additionalProperties: false,
});

export const agentSchema: z.ZodObject = z
  .strictObject({
    id: z.string(),
    entityId: z.string(),
    name: z.string(),
    project: projectField,
    status: agentStatusSchema,
    config: configSchema,
    configVersion: z.int(),
    activeSpaceId: z.string().optional(),
    lastError: z
      .strictObject({ reason: z.literal('error'), error: z.string() })
      .optional()
      .meta({ description: 'Why its last failed run failed.' }),
    source: z.enum(['file', 'api']).meta({
      description: '`file`: the configuration file created it, and resets its configuration at each start.',
    }),
    running: z.strictObject({ runId: z.string(), since: z.int() }).optional(),
    inbox: z.strictObject({
      pending: z.int().meta({ description: 'Events that wait or are being worked on.' }),
      dead: z.int(),
      withheld: z.int(),
    }),
    nextPlanAt: z.int().optional().meta({ description: 'When its next plan is due.' }),
    createdAt: z.int(),
    updatedAt: z.int(),
  })
  .meta({ id: 'Agent', description: 'An agent. It is also an entity.' });

export const agentVersionSchema: z.ZodType = z
  .strictObject({ version: z.int(), config: configSchema, createdAt: z.int() })
  .meta({ id: 'AgentVersion', description: 'A configuration that an agent has or had.' });

export const inboxStatusSchema: z.ZodEnum<{
  pending: 'pending';
  claimed: 'claimed';
  done: 'done';
  dead: 'dead';
  withheld: 'withheld';
}> = z.enum(['pending', 'claimed', 'done', 'dead', 'withheld']);

export const inboxItemSchema: z.ZodType = z
  .strictObject({
    eventId: z.string(),
    agentId: z.string(),
    type: z.enum(['space_message', 'tool_result', 'plan', 'service', 'chat', 'command']),
    status: inboxStatusSchema,
    priority: z.int(),
    attempts: z.int(),
    event: inboxEventSchema,
    availableAt: z.int(),
    runId: z.string().optional(),
    error: inboxErrorSchema.optional(),
    createdAt: z.int(),
  })
  .meta({ id: 'InboxItem', description: "An event in an agent's inbox." });
