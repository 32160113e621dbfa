import type { Language } from '../../../domain/sign-in';
import type { LogoRejection } from '../../../services/merchants/appearance';
import { SHARED_EN, SHARED_ID } from '../texts/shared-texts';

const en = {
  title: 'Checkout page',
  back: 'Settings',
  change: 'Change colour and logo',
  sample: 'How it looks',
  schemes: { light: 'Light', dark: 'Dark' },
  sampleHint:
    'Buttons have the colour, with an edge where it is too near to the background. Links have the nearest shade that ' +
    'can be read.',
  colourCard: 'Accent colour',
  colour: 'Colour',
  colourHint: 'The colour of your shop as #RRGGBB, for buttons, links and the strip on top. Empty: that of Lunas.',
  picker: 'Choose a colour',
  preview: 'Preview',
  saveColour: 'Save the colour',
  logo: 'Logo',
  file: 'Image file',
  fileHint: 'PNG, JPEG or WebP, at most 200 kB and 2,048 pixels a side. It is shown 40 pixels high, on white.',
  upload: 'Upload the logo',
  remove: 'Remove the logo',
  notice: 'Every owner gets a notice if the logo or the colour changes.',
  done: { colour: 'The colour is saved.', logo: 'The logo is saved.', removed: 'The logo is removed.' },
  errorTitle: SHARED_EN.checkFields,
  errors: {
    colour: 'Write a colour such as #0B6B4B.',
    missing: 'Choose an image file.',
    too_large: 'The file is larger than 200 kB. Save the image in a smaller size.',
    no_image: 'The file is no complete PNG, JPEG or WebP image. SVG and other formats cannot be used.',
    too_many_pixels: 'The image is larger than 2,048 pixels. Save it in a smaller size.',
    over_limit: 'The image took too long to read. Save it in a smaller size, or try again in a minute.',
  } satisfies Record<LogoRejection | 'missing' | 'colour', string>,
};

type AppearanceTexts = typeof en;

/** What a form has done. */
export type AppearanceDone = keyof AppearanceTexts['done'];

/** What is wrong with the colour or the file. */
export type AppearanceError = keyof AppearanceTexts['errors'];

const id: AppearanceTexts = {
  title: 'Halaman pembayaran',
  back: 'Pengaturan',
  change: 'Ubah warna dan logo',
  sample: 'Tampilannya',
  schemes: { light: 'Terang', dark: 'Gelap' },
  sampleHint:
    'Tombol memakai warna itu, dengan tepi jika warnanya terlalu dekat dengan latar. Tautan memakai nuansa terdekat ' +
    'yang terbaca.',
  colourCard: 'Warna aksen',
  colour: 'Warna',
  colourHint: 'Warna toko Anda sebagai #RRGGBB untuk tombol, tautan, dan garis di atas. Kosong: warna Lunas.',
  picker: 'Pilih warna',
  preview: 'Pratinjau',
  saveColour: 'Simpan warna',
  logo: 'Logo',
  file: 'Berkas gambar',
  fileHint:
    'PNG, JPEG, atau WebP, paling besar 200 kB dan 2.048 piksel per sisi. Tampil setinggi 40 piksel di atas putih.',
  upload: 'Unggah logo',
  remove: 'Hapus logo',
  notice: 'Setiap pemilik mendapat pemberitahuan jika logo atau warna berubah.',
  done: { colour: 'Warna disimpan.', logo: 'Logo disimpan.', removed: 'Logo dihapus.' },
  errorTitle: SHARED_ID.checkFields,
  errors: {
    colour: 'Tulis warna seperti #0B6B4B.',
    missing: 'Pilih berkas gambar.',
    too_large: 'Berkas lebih besar dari 200 kB. Simpan gambar dalam ukuran yang lebih kecil.',
    no_image: 'Berkas bukan gambar PNG, JPEG, atau WebP yang utuh. SVG dan format lain tidak dapat dipakai.',
    too_many_pixels: 'Gambar lebih besar dari 2.048 piksel. Simpan dalam ukuran yang lebih kecil.',
    over_limit: 'Gambar terlalu lama dibaca. Simpan dalam ukuran yang lebih kecil, atau coba lagi dalam satu menit.',
  },
};

export const APPEARANCE_TEXTS: Readonly<Record<Language, AppearanceTexts>> = { id, en };
