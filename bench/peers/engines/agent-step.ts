import { task } from '../../overhead/contender.ts';

/** The model's reply, the same for all engines: it asks for the tool. */
interface ToolCall {
  readonly name: string;
  readonly input: { readonly a: number; readonly b: number };
}

/** The model: answers at once. */
export async function askModel(): Promise<ToolCall> {
  return { name: task.toolName, input: JSON.parse(task.input) as ToolCall['input'] };
}
