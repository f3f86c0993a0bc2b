import { type CardProps, useShownInput, yesAndNo } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { ApproveCard } from './approve-card.tsx';
import { Asked } from './asked.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { CardFrame } from './card-frame.tsx';
import { FormCard } from './form-card.tsx';
import { Refusal } from './refusal.tsx';
import { useCard, useCardKeys } from './use-card.ts';
import { ClosedNote } from './whole-input.tsx';

/** Yes or no. If a tool of this name expects another result, the fitting card is shown instead. */
export function ConfirmCard(props: CardProps): ReactElement {
  const { kind, resultSchema } = props.call;
  const results = resultSchema === undefined ? { yes: true, no: false } : yesAndNo(resultSchema);
  if (kind === 'approval') return <ApproveCard {...props} />;
  return results === undefined ? <FormCard {...props} /> : <YesNo props={props} {...results} />;
}

function YesNo({ props, yes, no }: { props: CardProps; yes: unknown; no: unknown }): ReactElement {
  const card = useCard(props);
  const shown = useShownInput(props.call);
  const isOff = shown.closed > 0;
  const accept = (): void => {
    if (!isOff) card.send({ result: yes });
  };
  const refuse = (): void => card.send({ result: no });
  const keys = { a: { label: 'Yes', run: accept }, d: { label: 'No', run: refuse } };
  const onKeyDown = useCardKeys(card.isOpen && card.isMine ? keys : {});
  return (
    <CardFrame props={props} card={card} keys="a d" onKeyDown={onKeyDown}>
      <Asked call={props.call} shown={shown} />
      {card.isOpen && card.isMine && (
        <>
          <Refusal state={props.state} />
          <ClosedNote shown={shown} word="Yes" />
          <div ref={card.buttons} className={buttonsClass}>
            <CardButton card={card} onClick={refuse}>
              No
            </CardButton>
            <CardButton
              kind="primary"
              card={card}
              isOff={isOff}
              aria-describedby={isOff ? shown.reasonId : undefined}
              onClick={accept}
            >
              {card.isSending ? 'Sending …' : 'Yes'}
            </CardButton>
          </div>
        </>
      )}
    </CardFrame>
  );
}
