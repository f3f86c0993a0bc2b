import type { Card, CardState } from '@lastcall/client/react';
import { type FormEvent, type ReactElement, useEffect, useState } from 'react';
import { SchemaForm } from '../form/schema-form.tsx';
import { useSchemaForm } from '../form/use-schema-form.ts';
import { Button } from '../ui/button.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { SideBySide } from './side-by-side.tsx';
import { draftName, type UsedCard } from './use-card.ts';

interface ApproveEditedProps {
  readonly call: Card;
  readonly state: CardState;
  readonly card: UsedCard;
  readonly onBack: () => void;
}

/** Edits the input, and shows the original beside it before anything is sent. */
export function ApproveEdited({ call, state, card, onBack }: ApproveEditedProps): ReactElement {
  const form = useSchemaForm(call.resultSchema ?? true, call.input, draftName(call, 'edit'));
  const [changed, setChanged] = useState<{ readonly value: unknown }>();
  useEffect(() => {
    if (state.status !== 'refused') return;
    setChanged(undefined);
    form.showProblems(state.problems, 'input');
  }, [state]);
  const review = (event: FormEvent): void => {
    event.preventDefault();
    void form.read().then(setChanged);
  };
  if (changed !== undefined)
    return (
      <div className="flex flex-col gap-3">
        <SideBySide asked={call.input} changed={changed.value} words={['Asked', 'Yours']} />
        <div ref={card.buttons} className={buttonsClass}>
          <Button onClick={() => setChanged(undefined)} disabled={card.isSending}>
            Back
          </Button>
          <CardButton kind="primary" card={card} onClick={() => card.send({ approve: true, input: changed.value })}>
            {card.isSending ? 'Sending …' : 'Approve this'}
          </CardButton>
        </div>
      </div>
    );
  return (
    <form noValidate onSubmit={review} className="flex flex-col gap-3">
      <SchemaForm form={form} isDisabled={card.isSending} />
      <div ref={card.buttons} className={buttonsClass}>
        <Button onClick={onBack} disabled={card.isSending}>
          Back
        </Button>
        <Button kind="primary" type="submit">
          Compare …
        </Button>
      </div>
    </form>
  );
}
