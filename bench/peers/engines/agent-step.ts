import type { EnginePlace } from '../../engines/engine.ts';
import { task } from '../../overhead/contender.ts';

/** The model's reply, the same for all engines: it asks for the tool. */
interface ToolCall {
  readonly name: string;
  readonly input: { readonly a: number; readonly b: number };
}

/** Asks the model. */
export async function askModel({ modelAnswers }: Pick<EnginePlace, 'modelAnswers'>): Promise<ToolCall> {
  await modelAnswers();
  return { name: task.toolName, input: JSON.parse(task.input) as ToolCall['input'] };
}
