import { createSession, type JsonSchemaObject, type ToolSet } from '@lastcall/core';
import { advertise } from '@lastcall/core/internal';

/** The input schema of a tool as it is sent to a model. */
export async function advertisedInput(name: string, tool: ToolSet[string]): Promise<JsonSchemaObject | undefined> {
  const [advertised] = await advertise({ [name]: tool }, { session: createSession(), pendingAnswered: true });
  return advertised?.type === 'function' ? (advertised.inputSchema as JsonSchemaObject) : undefined;
}
