#!/bin/sh
# An environment for open_flamingo 2.0.1's own trainer: sh make_environment.sh FOLDER (outside the tree).
# Its metadata pin torch 2.0.1, so it is installed without its dependencies; webdataset above 0.2.86 and transformers 5
# break its data code (docs/open_flamingo.md). PYTHON is the interpreter to use, 3.10 to 3.12.
set -eu
folder=${1:?give a folder for the environment}
"${PYTHON:-python3}" -m venv "$folder"
pip="$folder/bin/pip install --quiet"
$pip torch==2.13.0 transformers==4.57.6 webdataset==0.2.86 scipy wandb braceexpand einops einops-exts sentencepiece \
    pillow ftfy regex tqdm safetensors
$pip --no-deps torchvision==0.28.0 timm open_clip_torch==3.3.0 open_flamingo==2.0.1
echo "$folder is ready"
