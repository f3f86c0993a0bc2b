import type { CardComponents } from '@lastcall/client/react';
import { ApproveCard } from './approve-card.tsx';
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
