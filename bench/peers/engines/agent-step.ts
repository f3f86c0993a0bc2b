import type { ToolCall } from '../../engines/engine.ts';
import { task } from '../../overhead/contender.ts';

/** The model: answers at once, and asks for the tool. */
export async function askModel(): Promise<ToolCall> {
  return { name: task.toolName, input: JSON.parse(task.input) as ToolCall['input'] };
}
