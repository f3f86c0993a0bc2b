import { Window } from 'happy-dom';

// React looks for the page when it is loaded, so the page comes first. Only what React needs is global: the rest stays Node's.
const window = new Window();
Object.assign(globalThis, { window, document: window.document, IS_REACT_ACT_ENVIRONMENT: true });

const { createRoot } = await import('react-dom/client');

export { createRoot, window };
