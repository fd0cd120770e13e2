"""The C/W/L family: measures that are the chance C(i) of going on from rank i."""
