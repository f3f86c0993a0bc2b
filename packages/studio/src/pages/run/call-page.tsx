import type { ReactElement } from 'react';
import { Page } from '../../ui/page.tsx';

export function CallPage(): ReactElement {
  return <Page title="Call">{null}</Page>;
}
