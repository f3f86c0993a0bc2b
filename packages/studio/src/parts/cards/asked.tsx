import type { Card, ShownInput } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { SafeText } from '../text/safe-text.tsx';
import { Part, WholeInput } from './whole-input.tsx';

/** What the agent asks: its question as text, and the rest of the input. */
export function Asked({ call, shown }: { call: Card; shown: ShownInput }): ReactElement | null {
  if (call.input === undefined) return <Writing text={call.inputText} />;
  const { question, parts } = shown;
  if (question === undefined && parts.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      {question !== undefined && (
        <div className="text-lg font-medium">
          <Part part={question} shown={shown} />
        </div>
      )}
      {parts.length > 0 && <WholeInput shown={shown} />}
    </div>
  );
}

/**
 * The input as far as the model has written it. Its lines are kept, so that the layout does not jump when it is
 * complete.
 */
export function Writing({ text }: { text: string }): ReactElement {
  return (
    <div aria-busy="true" className="font-mono text-xs text-quiet">
      {text === '' ? 'The agent is writing …' : <SafeText text={text} />}
    </div>
  );
}
