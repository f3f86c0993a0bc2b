import type { Story } from '@lastcall/client';
import { triggerInWords } from '../../parts/run/trigger-words.ts';

/** The words that caused a task, as its heading. */
export function taskInWords({ runs: [run] }: Pick<Story, 'runs'>): string {
  const [first] = run?.trigger ?? [];
  const isSaid = first?.type === 'space_message' || first?.type === 'chat' || first?.type === 'plan';
  return isSaid && first.text !== undefined && first.text.trim() !== ''
    ? first.text
    : triggerInWords(run ?? { trigger: [] });
}

/** Who said them: `Ada`, and how many more events came with them. */
export function askedInWords({ runs }: Pick<Story, 'runs'>): string {
  const [first, ...more] = runs[0]?.trigger ?? [];
  const by = first?.by ?? 'An operator';
  return more.length === 0 ? by : `${by}, and ${more.length} more`;
}
