import type { CardProps } from '@lastcall/client/react';
import { Pencil } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { JsonText } from '../text/safe-text.tsx';
import { Button } from '../ui/button.tsx';
import { ApproveEdited } from './approve-edited.tsx';
import { Writing } from './asked.tsx';
import { buttonsClass, CardButton } from './card-button.tsx';
import { CardFrame } from './card-frame.tsx';
import { DenyForm } from './deny-form.tsx';
import { Refusal } from './refusal.tsx';
import { SideBySide } from './side-by-side.tsx';
import { cardKeys, type UsedCard, useCard } from './use-card.ts';

type Step = 'decide' | 'edit' | 'deny';

/** Approve, edit or deny. Nothing is preselected, and Enter alone approves nothing. */
export function ApproveCard(props: CardProps): ReactElement {
  const { call } = props;
  const card = useCard(props);
  const [step, setStep] = useState<Step>('decide');
  const keys = { a: () => card.send({ approve: true }), e: () => setStep('edit'), d: () => setStep('deny') };
  const isDeciding = card.isOpen && card.isMine;
  const back = (): void => setStep('decide');
  return (
    <CardFrame props={props} card={card} keys="a d e" onKeyDown={cardKeys(isDeciding && step === 'decide' ? keys : {})}>
      {(!isDeciding || step !== 'edit') && <WhatIsAsked {...props} />}
      {isDeciding && (step !== 'edit' || props.state.status === 'unsent') && <Refusal state={props.state} />}
      {isDeciding && step === 'decide' && <Decide card={card} onStep={setStep} />}
      {isDeciding && step === 'edit' && <ApproveEdited call={call} state={props.state} card={card} onBack={back} />}
      {isDeciding && step === 'deny' && <DenyForm card={card} onBack={back} />}
    </CardFrame>
  );
}

function WhatIsAsked({ call }: CardProps): ReactElement {
  if (call.input === undefined) return <Writing text={call.inputText} />;
  // Once it was changed, the input is what was approved.
  if (call.askedInput !== undefined)
    return <SideBySide asked={call.askedInput} changed={call.input} words={['Asked', 'Approved']} />;
  return (
    <div className="flex flex-col gap-1">
      {call.decision === undefined && <p className="text-sm text-quiet">The agent wants to call it with:</p>}
      <JsonText value={call.input} label="Input" />
    </div>
  );
}

function Decide({ card, onStep }: { card: UsedCard; onStep: (step: Step) => void }): ReactElement {
  return (
    <div ref={card.buttons} className={buttonsClass}>
      <Button kind="danger" disabled={card.isSending} onClick={() => onStep('deny')}>
        Deny …
      </Button>
      <Button disabled={card.isSending} onClick={() => onStep('edit')}>
        <Pencil size={16} aria-hidden /> Edit …
      </Button>
      <CardButton kind="primary" card={card} onClick={() => card.send({ approve: true })}>
        {card.isSending ? 'Sending …' : 'Approve'}
      </CardButton>
    </div>
  );
}
