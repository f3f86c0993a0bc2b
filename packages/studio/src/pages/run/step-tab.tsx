import type { ReactElement } from 'react';
import { Markdown } from '../../text/markdown.tsx';
import { Facts } from './facts.tsx';
import type { StepRow } from './timeline.ts';

/** What the model said in a step, and what that took. */
export function StepTab({ row }: { row: StepRow }): ReactElement {
  const { text, usage, model, attempts, finishReason, calls } = row;
  return (
    <div className="flex flex-col gap-3">
      {text === '' ? <p className="text-quiet">It said nothing beside its calls.</p> : <Markdown text={text} />}
      <Facts
        facts={[
          model !== undefined && ['Model', <bdi key="model">{model}</bdi>],
          ['Tokens', `${usage.inputTokens.toLocaleString()} in, ${usage.outputTokens.toLocaleString()} out`],
          ['Asked for', `${calls} ${calls === 1 ? 'call' : 'calls'}`],
          attempts > 1 && ['Asked', `${attempts} times`],
          ['Finished', FINISHED[finishReason]],
        ]}
      />
    </div>
  );
}

const FINISHED: Readonly<Record<StepRow['finishReason'], string>> = {
  stop: 'it had said all',
  'tool-calls': 'with calls',
  length: 'cut off: it was too long',
  'content-filter': 'filtered by the provider',
  error: 'with an error of the provider',
  other: 'for a reason of the provider',
};
