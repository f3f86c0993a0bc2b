import { type CardProps, useShownInput } from '@lastcall/client/react';
import { type FormEvent, type ReactElement, useEffect } from 'react';
import { SchemaForm } from '../form/schema-form.tsx';
import { useSchemaForm } from '../form/use-schema-form.ts';
import { ApproveCard } from './approve-card.tsx';
import { Asked } from './asked.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { CardFrame } from './card-frame.tsx';
import { Refusal } from './refusal.tsx';
import { draftName, useCard } from './use-card.ts';
import { ClosedNote } from './whole-input.tsx';

/**
 * A form made from the schema of the result. Parts that no form can draw are JSON fields, so that every call can be
 * answered.
 */
export function FormCard(props: CardProps): ReactElement {
  return props.call.kind === 'approval' ? <ApproveCard {...props} /> : <Fill {...props} />;
}

function Fill(props: CardProps): ReactElement {
  const { call, state } = props;
  const card = useCard(props);
  const shown = useShownInput(call);
  const isOff = shown.closed > 0;
  const form = useSchemaForm(call.resultSchema ?? true, undefined, draftName(call, 'form'));
  useEffect(() => {
    if (state.status === 'refused') form.showProblems(state.problems, 'result');
  }, [state]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (card.isBlocked || isOff) return;
    void form.read().then((read) => read !== undefined && card.send({ result: read.value }));
  };
  return (
    <CardFrame props={props} card={card}>
      <Asked call={call} shown={shown} />
      {card.isOpen && card.isMine && (
        <form noValidate onSubmit={submit} className="flex flex-col gap-3">
          <SchemaForm form={form} isDisabled={card.isSending} />
          {state.status === 'unsent' && <Refusal state={state} />}
          <ClosedNote shown={shown} word="Send" />
          <div ref={card.buttons} className={buttonsClass}>
            <CardButton
              kind="primary"
              type="submit"
              card={card}
              isOff={isOff}
              aria-describedby={isOff ? shown.reasonId : undefined}
            >
              {card.isSending ? 'Sending …' : 'Send'}
            </CardButton>
          </div>
        </form>
      )}
    </CardFrame>
  );
}
