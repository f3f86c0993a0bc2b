import { z } from 'zod';
import { agentConfigSchema } from '../../../config/agent-config.ts';
import { toolConfigSchema } from '../../../config/tool-config-schema.ts';

/*
 * The schemas of configurations are applied where agents and tools are made, for every way in. Endpoints only show them, as JSON Schema,
 * and add more fields.
 */

type JsonSchema = z.core.JSONSchema.BaseSchema;

const { properties = {}, $defs = {} } = z.toJSONSchema(z.object({ agent: agentConfigSchema, tool: toolConfigSchema }), {
  io: 'input',
  unrepresentable: 'any',
});

/** The parts of configurations that have names: they are components of `/openapi.json`. */
export const configComponents: Readonly<Record<string, JsonSchema>> = $defs;

export const agentConfigJson: JsonSchema = properties.agent as JsonSchema;
export const toolConfigJson: JsonSchema = $defs.ToolConfig as JsonSchema;
