import type { ToolExample } from '../contract/tool-example.ts';
import { ToolDefinitionError } from '../errors.ts';
import { type KnownNames, knownNames, unknownName } from '../unknown-option.ts';
import type { ToolDefinition } from './tool-definition.ts';

const FIELDS: KnownNames = knownNames<ToolDefinition>(
  {
    description: true,
    id: true,
    name: true,
    inputSchema: true,
    outputSchema: true,
    execute: true,
    terminal: true,
    effects: true,
    idempotent: true,
    timeoutMs: true,
    approval: true,
    keepLatest: true,
    examples: true,
    render: true,
    compensate: true,
    forbidsRewind: true,
    transition: true,
    policies: true,
    slices: true,
  },
  {
    parameters: 'inputSchema',
    schema: 'inputSchema',
    input: 'inputSchema',
    output: 'outputSchema',
    returns: 'outputSchema',
    handler: 'execute',
    run: 'execute',
    invoke: 'execute',
    func: 'execute',
    needsApproval: 'approval',
    requireApproval: 'approval',
    timeout: 'timeoutMs',
    sideEffects: 'effects',
    toModelOutput: 'render',
  },
);
const EXAMPLE: KnownNames = knownNames<ToolExample<unknown, unknown>>({ description: true, input: true, output: true });

/** Refuses an unknown field: a misspelt `timeoutMs` or `approval` would otherwise be silently ignored. */
export function assertKnownFields(definition: object, name: string): void {
  const unknown = unknownName(definition, FIELDS);
  if (unknown !== undefined) throw new ToolDefinitionError(name, unknown.field, unknown.problem);
}

/** The same for the fields of its examples. */
export function assertKnownExamples({ examples = [] }: Pick<ToolDefinition, 'examples'>, name: string): void {
  const unknown = examples
    .map((example, index) => unknownName(example, EXAMPLE, `examples[${index}].`))
    .find((found) => found !== undefined);
  if (unknown !== undefined) throw new ToolDefinitionError(name, unknown.field, unknown.problem);
}
