import type { Language } from '../../../domain/sign-in';
import { EN, type DashboardTexts } from './en';
import { ID } from './id';

export const DASHBOARD_TEXTS: Readonly<Record<Language, DashboardTexts>> = { id: ID, en: EN };
