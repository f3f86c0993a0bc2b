import { InvalidArgumentError } from 'commander';

/** Reads what an agent should do. The gateway takes no message without words. */
export function toTask(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must have words.');
  return text;
}
