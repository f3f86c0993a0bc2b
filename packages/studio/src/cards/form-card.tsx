import type { CardProps } from '@lastcall/client/react';
import { type FormEvent, type ReactElement, useEffect } from 'react';
import { SchemaForm } from '../form/schema-form.tsx';
import { useSchemaForm } from '../form/use-schema-form.ts';
import { ApproveCard } from './approve-card.tsx';
import { Asked } from './asked.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { CardFrame } from './card-frame.tsx';
import { Refusal } from './refusal.tsx';
import { useCard } from './use-card.ts';

/** A form made from the schema of the result. What no form can draw is a JSON field, so that no card is a dead end. */
export function FormCard(props: CardProps): ReactElement {
  return props.call.kind === 'approval' ? <ApproveCard {...props} /> : <Fill {...props} />;
}

function Fill(props: CardProps): ReactElement {
  const { call, state } = props;
  const card = useCard(props);
  const form = useSchemaForm(call.resultSchema ?? true);
  useEffect(() => {
    if (state.status === 'refused') form.showProblems(state.problems, 'result');
  }, [state]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (card.isBlocked) return;
    void form.read().then((read) => read !== undefined && card.send({ result: read.value }));
  };
  return (
    <CardFrame props={props} card={card}>
      <Asked call={call} />
      {card.isOpen && card.isMine && (
        <form noValidate onSubmit={submit} className="flex flex-col gap-3">
          <SchemaForm form={form} isDisabled={card.isSending} />
          {state.status === 'unsent' && <Refusal state={state} />}
          <div ref={card.buttons} className={buttonsClass}>
            <CardButton kind="primary" type="submit" card={card}>
              {card.isSending ? 'Sending …' : 'Send'}
            </CardButton>
          </div>
        </form>
      )}
    </CardFrame>
  );
}
