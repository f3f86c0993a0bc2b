import { type CardComponents, type CardKind, type CardProps, cardKind } from '@lastcall/client/react';
import type { ReactElement } from 'react';
import { ApproveCard } from './approve-card.tsx';
import { CallLine } from './call-line.tsx';
import { ChooseCard } from './choose-card.tsx';
import { ConfirmCard } from './confirm-card.tsx';
import { FormCard } from './form-card.tsx';

/** The components that show calls, by `display.customUI`. All other calls are shown according to what they wait for. */
export const cards: CardComponents = {
  confirmAction: ConfirmCard,
  chooseOne: ChooseCard,
  fillForm: FormCard,
  approve: ApproveCard,
};

/** Shows a call whose tool names no known component, by what the call waits for. */
export function AnyCard(props: CardProps): ReactElement {
  // A call that waits for no answer has nothing to ask.
  if (props.call.kind === undefined) return <CallLine {...props} />;
  const Component = BY_KIND[cardKind(props.call)];
  return <Component {...props} />;
}

const BY_KIND: Readonly<Record<CardKind, (props: CardProps) => ReactElement>> = {
  approve: ApproveCard,
  confirm: ConfirmCard,
  choose: ChooseCard,
  form: FormCard,
};
