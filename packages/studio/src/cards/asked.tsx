import type { Card } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { JsonText, SafeText } from '../text/safe-text.tsx';
import { questionOf } from './call-shape.ts';

/** What the agent asks: its question as text, and the rest of the input. */
export function Asked({ call }: { call: Card }): ReactElement | null {
  if (call.input === undefined) return <Writing text={call.inputText} />;
  const { question, rest } = questionOf(call.input);
  const isEmpty = Object.keys(rest).length === 0;
  if (question === undefined && isEmpty) return null;
  return (
    <div className="flex flex-col gap-2">
      {question !== undefined && (
        <p className="text-lg">
          <SafeText text={question} />
        </p>
      )}
      {!isEmpty && <JsonText value={rest} label="Input" />}
    </div>
  );
}

/** The input as far as the model has written it. Its lines are kept, so that nothing jumps when it is whole. */
export function Writing({ text }: { text: string }): ReactElement {
  return (
    <div aria-busy="true" className="font-mono text-xs text-quiet">
      {text === '' ? 'The agent is writing …' : <SafeText text={text} />}
    </div>
  );
}
