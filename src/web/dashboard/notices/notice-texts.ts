import type { NoticeKind } from '../../../domain/notice-kinds';
import type { Language } from '../../../domain/sign-in';

interface NoticeTexts {
  readonly title: string;
  readonly close: string;
  readonly unnamed: string;
  /** By the name of the user or the key, or the origin of an endpoint. */
  readonly kinds: Readonly<Record<NoticeKind, (name: string) => string>>;
}

const en: NoticeTexts = {
  title: 'Security notices',
  close: 'Close',
  unnamed: 'No name',
  kinds: {
    'security.factor_changed': (name) => `${name} changed the password, a second factor or the recovery codes.`,
    'security.recovery_code_used': (name) => `${name} used a recovery code.`,
    'security.login_reset': (name) => `A link was created that resets the login of ${name}.`,
    'security.member_authorised': (name) => `${name} may approve payouts.`,
    'security.owner_changed': (name) => `The owners changed: ${name}.`,
    'security.key_created': (name) => `A new API key: ${name}.`,
    'security.webhook_changed': (name) => `A webhook is new, or has another address or secret: ${name}.`,
  },
};

const id: NoticeTexts = {
  title: 'Pemberitahuan keamanan',
  close: 'Tutup',
  unnamed: 'Tanpa nama',
  kinds: {
    'security.factor_changed': (name) => `${name} mengubah kata sandi, faktor kedua, atau kode pemulihan.`,
    'security.recovery_code_used': (name) => `${name} memakai kode pemulihan.`,
    'security.login_reset': (name) => `Tautan untuk mengatur ulang akses masuk ${name} dibuat.`,
    'security.member_authorised': (name) => `${name} boleh menyetujui pencairan.`,
    'security.owner_changed': (name) => `Pemilik toko berubah: ${name}.`,
    'security.key_created': (name) => `Kunci API baru: ${name}.`,
    'security.webhook_changed': (name) => `Webhook baru, atau alamat atau rahasianya diganti: ${name}.`,
  },
};

export const NOTICE_TEXTS: Readonly<Record<Language, NoticeTexts>> = { id, en };
